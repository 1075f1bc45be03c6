import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { UndoError, UndoStack } from "./undo.ts";

Deno.test("UndoStack runs every reverse, last first, one after the other", async () => {
  const undone: string[] = [];
  {
    await using undo = new UndoStack();
    undo.defer("a", () => undone.push("a"));
    undo.defer("b", async () => {
      undone.push("b starts");
      await Promise.resolve();
      undone.push("b ends");
    });
    undo.defer("c", () => undone.push("c"));
    assertEquals(undo.size, 3);
  }
  assertEquals(undone, ["c", "b starts", "b ends", "a"]);
});

Deno.test("UndoStack undoes nothing after commit()", () => {
  const undone: string[] = [];
  {
    using undo = new UndoStack();
    undo.defer("a", () => undone.push("a"));
    undo.commit();
  }
  assertEquals(undone, []);
});

Deno.test("UndoStack.unwind() goes on after failures and names each", async () => {
  const undone: string[] = [];
  const undo = new UndoStack();
  undo.defer("delete veth hcni1", () => Promise.reject(new Error("busy", { cause: "EBUSY" })));
  undo.defer("forget route", () => undone.push("route"));
  undo.defer("release 10.0.0.7", () => {
    throw new Error("disk full");
  });
  const error = await assertRejects(() => undo.unwind(), UndoError);
  assertEquals(
    error.message,
    "Cannot undo 2 of 3 steps: release 10.0.0.7: disk full; delete veth hcni1: busy: EBUSY",
  );
  assertEquals(error.failures.map((failure) => failure.label), [
    "release 10.0.0.7",
    "delete veth hcni1",
  ]);
  assertEquals(undone, ["route"]);
  await undo.unwind();
});

Deno.test("UndoStack.unwindSync() reports an asynchronous step instead of losing it", () => {
  const undone: string[] = [];
  const undo = new UndoStack();
  undo.defer("first", () => undone.push("first"));
  undo.defer("slow", () => Promise.reject(new Error("unobserved")));
  assertThrows(() => undo.unwindSync(), UndoError, "slow: Cannot wait for an asynchronous step");
  assertEquals(undone, ["first"]);
});

Deno.test("UndoStack with onFailure lets the original error through", async () => {
  const original = new Error("no address left");
  const reported: UndoError[] = [];
  const failing = () => {
    throw new Error("busy");
  };
  const sync = () => {
    using undo = new UndoStack({ onFailure: (error) => reported.push(error) });
    undo.defer("x", failing);
    throw original;
  };
  const async = async () => {
    await using undo = new UndoStack({ onFailure: (error) => reported.push(error) });
    undo.defer("y", failing);
    throw original;
  };
  assertStrictEquals(assertThrows(sync), original);
  assertStrictEquals(await assertRejects(async), original);
  assertEquals(reported.map((error) => error.failures[0]?.label), ["x", "y"]);
});

Deno.test("UndoStack without onFailure throws what it could not undo", () => {
  const error = assertThrows(() => {
    using undo = new UndoStack();
    undo.defer("x", () => {
      throw new Error("busy");
    });
  });
  assertInstanceOf(error, UndoError);
});

Deno.test("UndoStack refuses a step that nothing would ever undo", () => {
  const undo = new UndoStack();
  undo.commit();
  assertThrows(
    () => undo.defer("late", () => {}),
    TypeError,
    'Cannot defer "late": the undo stack is closed',
  );
});
