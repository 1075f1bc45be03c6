/** A request to the kernel as data: made by the operations, sent by a connection. */

/** One message to the kernel, and the words for its failure. */
export interface Request {
  /** Verb phrase for messages: `"add address"`. */
  readonly operation: string;
  /**
   * What it acts on, for messages: `"10.0.0.2/24 on link 2"`. A function, because it is needed
   * only when something fails, and formatting addresses takes longer than sending them.
   */
  readonly subject?: () => string;
  /** `nlmsg_type`. */
  readonly type: number;
  /** `nlmsg_flags` besides `NLM_F_REQUEST` and `NLM_F_ACK`. */
  readonly flags: number;
  /** Everything behind the message header. */
  readonly payload: Uint8Array;
}
