/** Several calls at a time: the machine has few cores, and runtimes do the same. */

/** Runs `work` for all items, `width` at a time; results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, at: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) {
      results[at] = await work(items[at] as T, at);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
