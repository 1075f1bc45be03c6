/** What every workflow of this repository must hold to; the reasons are in the messages. */

/** A step of a job, as far as the rules look at it. */
export interface WorkflowStep {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** A job; one that only calls another workflow has `uses` and no steps. */
export interface WorkflowJob {
  readonly uses?: string;
  readonly "timeout-minutes"?: number;
  readonly permissions?: unknown;
  readonly strategy?: { readonly matrix?: { readonly include?: readonly MatrixEntry[] } };
  readonly steps?: readonly WorkflowStep[];
}

/** One line of a matrix. */
export interface MatrixEntry {
  readonly target?: string;
}

/** A parsed workflow file. */
export interface Workflow {
  readonly on?: unknown;
  readonly permissions?: unknown;
  readonly concurrency?: unknown;
  readonly jobs?: Readonly<Record<string, WorkflowJob>>;
}

/** An action of somebody else, fixed to a commit: a tag can be moved to other code. */
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/;

/** A line that uses an action, with the version of the commit for the reader and for bots. */
const PINNED_LINE = /uses:\s+\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** Checks the parsed `workflow` and its `text`; returns what is wrong with it, in sentences. */
export function checkWorkflow(workflow: Workflow, text: string): string[] {
  const problems: string[] = [];
  if (JSON.stringify(workflow.permissions) !== '{"contents":"read"}') {
    problems.push("permissions must be contents: read, a job asks for more where it needs it");
  }
  if (workflow.concurrency === undefined) {
    problems.push("concurrency must be set, or two runs race");
  }
  if (JSON.stringify(workflow.on ?? "").includes("pull_request_target")) {
    problems.push("pull_request_target gives secrets to the code of strangers");
  }
  const jobs = Object.entries(workflow.jobs ?? {});
  if (jobs.length === 0) problems.push("there are no jobs");
  problems.push(...jobs.flatMap(([name, job]) => checkJob(job).map((what) => `${name}: ${what}`)));
  return [...problems, ...checkVersionComments(text)];
}

function checkJob(job: WorkflowJob): string[] {
  // The called workflow has its own limits, and comes from the same commit.
  if (job.uses?.startsWith("./")) return [];
  const problems: string[] = [];
  if (job.uses !== undefined) problems.push(...checkUses(job.uses));
  if (typeof job["timeout-minutes"] !== "number") {
    problems.push("timeout-minutes must be set, the default is six hours");
  }
  return [...problems, ...(job.steps ?? []).flatMap(checkStep)];
}

function checkStep(step: WorkflowStep): string[] {
  const problems: string[] = [];
  if (step.uses !== undefined) problems.push(...checkUses(step.uses));
  if (step.uses?.startsWith("actions/checkout@") && step.with?.["persist-credentials"] !== false) {
    problems.push("checkout must set persist-credentials: false, or every step can read the token");
  }
  if (step.run?.includes("${{")) {
    problems.push(
      `step "${step.name ?? step.run}" puts \${{ }} into a script, pass it through env instead`,
    );
  }
  return problems;
}

function checkUses(uses: string): string[] {
  return PINNED.test(uses) ? [] : [`${uses} must be pinned to a full commit hash`];
}

function checkVersionComments(text: string): string[] {
  return text.split("\n")
    .filter((line) => /^\s*(- )?uses:\s+[^.\s]/.test(line) && !PINNED_LINE.test(line))
    .map((line) => `"${line.trim()}" must name its version in a comment: # v1.2.3`);
}

/** The targets in the matrix of `job`, in the order they stand there. */
export function matrixTargets(job: WorkflowJob | undefined): string[] {
  return (job?.strategy?.matrix?.include ?? []).flatMap(({ target }) => target ?? []);
}
