/** Where the build keeps what it fetched: outside the tree, so that clones share it. */

/** `HEADCNI_CACHE`, else `headcni` in the user's cache directory; created when missing. */
export function cacheDirectory(name: string): string {
  const path = `${cacheRoot()}/${name}`;
  Deno.mkdirSync(path, { recursive: true });
  return path;
}

function cacheRoot(): string {
  const own = Deno.env.get("HEADCNI_CACHE");
  if (own) return own;
  const xdg = Deno.env.get("XDG_CACHE_HOME");
  if (xdg) return `${xdg}/headcni`;
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE") ?? "/root";
  return `${home}/.cache/headcni`;
}
