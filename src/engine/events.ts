/** What happens in a run, as data: the journal writes it, the terminal shows it, tests read it. */

export type NodeState =
  | "waiting"
  | "running"
  | "cached"
  | "done"
  /** Some units failed, more than allowed; what they left was used all the same where there is something to use. */
  | "failed"
  /** Not run because a stage that it needs failed, stopped or was left out. */
  | "blocked"
  /** Stopped by a limit or a budget: the same command goes on later. */
  | "stopped"
  | "interrupted"
  | "skipped";

export interface NodeProgress {
  readonly id: string;
  readonly stage: string;
  readonly label: string | null;
  readonly kind: string;
  state: NodeState;
  /** Items in the output (final once the state is), and units behind them. */
  items: number;
  units: number;
  executed: number;
  cached: number;
  failed: number;
  /** Counts of unit statuses (`completed`, `truncated`, `failed`, `timed_out` ...). */
  readonly statuses: Record<string, number>;
  /** Seconds from the first to the last thing it did. */
  seconds: number;
  /** Why it is `failed`, `blocked` or `stopped`; the first reason for running at all. */
  message: string | null;
}

export type EngineEvent =
  | { readonly type: "run-started"; readonly runId: string; readonly nodes: readonly NodeProgress[] }
  | { readonly type: "stage"; readonly node: NodeProgress }
  | { readonly type: "progress"; readonly node: NodeProgress }
  | {
      readonly type: "unit";
      readonly node: NodeProgress;
      readonly unit: string;
      readonly key: string;
      readonly status: string;
      readonly seconds: number;
      readonly message?: string;
    }
  | {
      readonly type: "retry";
      readonly node: NodeProgress;
      readonly unit: string;
      readonly attempt: number;
      readonly wait: number;
      readonly message: string;
    }
  | { readonly type: "waiting"; readonly resource: string; readonly until: number | null; readonly why: string }
  | {
      readonly type: "limit";
      readonly resource: string;
      readonly left: number;
      readonly of: number | null;
      readonly resetAt: number | null;
    }
  | { readonly type: "warning"; readonly message: string; readonly node?: string }
  | { readonly type: "restart"; readonly why: string }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "run-finished"; readonly state: string };

export type EventSink = (event: EngineEvent) => void;
