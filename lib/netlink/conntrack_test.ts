import { assertEquals } from "@std/assert";
import { parseAddress } from "../ip/mod.ts";
import { NetlinkConnection } from "./connection.ts";
import { deleteFlows } from "./conntrack.ts";
import { IPCTNL_MSG_CT_GET } from "./constants/nfnetlink.ts";
import { acknowledge, fakeSocket, multipart } from "./testing.ts";

Deno.test("deleteFlows() lists all flows on a kernel that cannot pick those to delete", () => {
  const asked: number[] = [];
  using connection = new NetlinkConnection(fakeSocket((request) => {
    const message = request.type & 0xff;
    asked.push(message);
    return message === IPCTNL_MSG_CT_GET
      ? multipart(request, [])
      : [acknowledge(request, { error: "EINVAL" })];
  }));
  deleteFlows(connection, parseAddress("10.1.0.7"));
  assertEquals(asked.at(-1), IPCTNL_MSG_CT_GET);
});
