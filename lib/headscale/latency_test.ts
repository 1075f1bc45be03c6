import { assertEquals } from "@std/assert";
import { LATENCY_BOUNDS_S, LatencyHistogram } from "./latency.ts";

Deno.test("LatencyHistogram counts by operation and outcome, cumulatively by bound", () => {
  const histogram = new LatencyHistogram();
  assertEquals([histogram.rows(), histogram.slowestS()], [[], 0]);
  for (const seconds of [0.004, 0.04, 30]) {
    histogram.record({ operation: "list nodes", outcome: "ok", seconds });
  }
  histogram.record({ operation: "list nodes", outcome: "Deadline", seconds: 6 });
  const [fine, late] = histogram.rows();
  assertEquals([fine?.count, late?.count, late?.outcome], [3, 1, "Deadline"]);
  assertEquals(fine?.sumS, 30.044);
  const at = (bound: number) => fine?.buckets[LATENCY_BOUNDS_S.indexOf(bound)];
  assertEquals([at(0.005), at(0.025), at(0.05), at(10)], [1, 1, 2, 2]);
  assertEquals(histogram.slowestS(), 30);
});
