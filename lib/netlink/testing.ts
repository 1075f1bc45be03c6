/**
 * Netlink without a kernel: a fake socket is one function from a request to its replies, and
 * {@linkcode FakeKernel} is a small kernel behind such a function.
 *
 * @module
 */

export { type FailWith, FakeKernel } from "./fake_kernel.ts";
export {
  acknowledge,
  type AcknowledgeOptions,
  FAKE_PORT_ID,
  fakeSocket,
  joinDatagrams,
  multipart,
  type MultipartOptions,
  reply,
  type Respond,
} from "./fake_socket.ts";
