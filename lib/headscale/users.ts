/** Users: who owns nodes and pre-auth keys. */

import type { JsonView } from "../sys/json_view.ts";
import { isHeadscaleError } from "./errors.ts";
import type { CallOptions, Requests } from "./requests.ts";

/** A user of Headscale. */
export interface HeadscaleUser {
  readonly id: string;
  readonly name: string;
}

/** All users. */
export async function listUsers(
  requests: Requests,
  options?: CallOptions,
): Promise<readonly HeadscaleUser[]> {
  return await requests.ask({
    operation: "list users of Headscale",
    method: "GET",
    path: "/api/v1/user",
    idempotent: true,
    read: (answer) => answer.objects("users").map(readUser),
  }, options);
}

/** The user called `name`, created if there is none. */
export async function ensureUser(
  requests: Requests,
  name: string,
  options?: CallOptions,
): Promise<HeadscaleUser> {
  // Not `?name=`: 0.23 ignores it and returns everybody.
  const find = async () => (await listUsers(requests, options)).find((user) => user.name === name);
  const present = await find();
  if (present !== undefined) return present;
  try {
    return await requests.ask({
      operation: "create user of Headscale",
      subject: name,
      method: "POST",
      path: "/api/v1/user",
      body: { name },
      idempotent: false,
      read: (answer) => readUser(answer.required("user")),
    }, options);
  } catch (error) {
    // Another node of the cluster may have been faster; or the answer to our own request was
    // lost. What is said of the conflict differs between versions, so look again.
    const created = isHeadscaleError(error, "Unauthorized") ? undefined : await find();
    if (created !== undefined) return created;
    throw error;
  }
}

/** A user in an answer. */
export function readUser(user: JsonView): HeadscaleUser {
  return { id: user.text("id"), name: user.text("name") };
}
