/**
 * What a run shows while it goes on, on stderr: on a terminal one line per stage, redrawn; elsewhere plain lines, one per thing worth knowing.
 */
import { visible } from "../base/diagnostics.js";
import type { EngineEvent, NodeProgress } from "../engine/events.js";
import { plural } from "../report/numbers.js";
import type { Io } from "./contract.js";

export interface Screen {
  readonly event: (event: EngineEvent) => void;
  /** A line that must not be lost in the redrawing. */
  readonly note: (text: string) => void;
  /** Draws nothing over what a person is being asked until the returned function is called. */
  readonly hold: () => () => void;
  readonly end: () => void;
}

const REDRAW_MS = 100;
const MARKS: Readonly<Record<NodeProgress["state"], string>> = {
  waiting: "·",
  running: "▸",
  cached: "=",
  done: "✓",
  failed: "✗",
  blocked: "-",
  stopped: "‖",
  interrupted: "‖",
  skipped: "-",
};
/** Failures of one stage that are shown one by one; the rest is counted. */
const SHOWN_FAILURES = 5;

export function screen(io: Io, options: { readonly quiet: boolean }): Screen {
  const failures = new Map<string, number>();
  const lines = (event: EngineEvent): string | null => describe(event, failures, options.quiet);
  if (options.quiet || !io.terminal.isTTY) {
    return {
      event: (event) => {
        const line = lines(event);
        if (line !== null) io.stderr(`${line}\n`);
      },
      note: io.stderr,
      hold: () => () => {},
      end: () => {},
    };
  }
  return liveScreen(io, failures);
}

function liveScreen(io: Io, failures: Map<string, number>): Screen {
  let nodes: readonly NodeProgress[] = [];
  const byId = new Map<string, NodeProgress>();
  let waiting: string | null = null;
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;
  let holds = 0;
  const erase = () => {
    if (drawn > 0) io.stderr(`\u001b[${drawn}A\u001b[J`);
    drawn = 0;
  };
  const draw = () => {
    timer = undefined;
    if (holds > 0) return;
    erase();
    const width = Math.max(20, io.terminal.columns - 1);
    const names = Math.min(32, Math.max(...nodes.map(({ id }) => id.length), 8));
    const rows = nodes.map((node) => nodeLine(byId.get(node.id) ?? node, names).slice(0, width));
    if (waiting !== null) rows.push(waiting.slice(0, width));
    io.stderr(`${rows.join("\n")}\n`);
    drawn = rows.length;
  };
  const later = () => {
    timer ??= setTimeout(draw, REDRAW_MS);
  };
  const note = (text: string) => {
    erase();
    io.stderr(text);
    later();
  };
  return {
    event: (event) => {
      if (event.type === "run-started") nodes = event.nodes;
      if (event.type === "stage" || event.type === "progress") byId.set(event.node.id, event.node);
      if (event.type === "waiting") {
        waiting = event.until === null && event.why === "" ? null : describe(event, failures, false);
      }
      if (event.type === "warning" || event.type === "restart" || (event.type === "unit" && event.message !== undefined)) {
        const line = describe(event, failures, false);
        if (line !== null) note(`${line}\n`);
      }
      later();
    },
    note,
    hold: () => {
      erase();
      holds++;
      let held = true;
      return () => {
        if (held) holds--;
        held = false;
        later();
      };
    },
    end: () => {
      holds = 0;
      clearTimeout(timer);
      waiting = null;
      if (nodes.length > 0) draw();
      drawn = 0;
    },
  };
}

function nodeLine(node: NodeProgress, width: number): string {
  const name = node.id.length > width ? `${node.id.slice(0, width - 1)}…` : node.id.padEnd(width);
  const doneUnits = node.executed + node.cached + node.failed;
  let detail: string;
  switch (node.state) {
    case "waiting":
      detail = "";
      break;
    case "running": {
      const share = node.units === 0 ? 0 : doneUnits / node.units;
      const filled = Math.round(share * 12);
      detail = `${"█".repeat(filled)}${"░".repeat(12 - filled)} ${doneUnits}/${node.units}`;
      break;
    }
    case "cached":
      detail = `${plural(node.items, "item")}, from the cache`;
      break;
    default:
      detail = figures(node);
  }
  const failed = node.failed > 0 ? `, ${node.failed} failed` : "";
  return `${MARKS[node.state]} ${name}  ${detail}${node.state === "running" ? failed : ""}${node.message !== null && node.state !== "done" && node.state !== "running" ? `  ${visible(node.message)}` : ""}`;
}

function figures(node: NodeProgress): string {
  const parts = [plural(node.items, "item")];
  if (node.executed > 0) parts.push(`${node.executed} executed`);
  if (node.cached > 0) parts.push(`${node.cached} from the cache`);
  if (node.failed > 0) parts.push(`${node.failed} failed`);
  return `${parts.join(", ")} (${node.seconds.toFixed(1)} s)`;
}

/** One plain line for what is worth one; null for the rest. */
function describe(event: EngineEvent, failures: Map<string, number>, quiet: boolean): string | null {
  switch (event.type) {
    case "stage": {
      const { node } = event;
      if (quiet || node.state === "running" || node.state === "skipped") return null;
      if (node.state === "cached") return `= ${node.id}: ${plural(node.items, "item")}, from the cache`;
      if (node.state === "done") return `✓ ${node.id}: ${figures(node)}`;
      return `${MARKS[node.state]} ${node.id}: ${node.state}${node.items > 0 ? `, ${figures(node)}` : ""}${node.message === null ? "" : `: ${visible(node.message)}`}`;
    }
    case "unit": {
      if (event.message === undefined) return null;
      const before = failures.get(event.node.id) ?? 0;
      failures.set(event.node.id, before + 1);
      if (before > SHOWN_FAILURES) return null;
      if (before === SHOWN_FAILURES) return `  ${event.node.id}: further failures are in the journal`;
      return `  ${event.node.id}, ${visible(event.unit)}: ${event.status}: ${visible(event.message)}`;
    }
    case "retry":
      return quiet
        ? null
        : `  ${event.node.id}, ${visible(event.unit)}: attempt ${event.attempt} failed (${visible(event.message)}), again in ${event.wait.toFixed(1)} s`;
    case "waiting": {
      if (event.until === null) return event.why === "" ? null : `  ${event.resource}: ${visible(event.why)}`;
      return `  ${event.resource}: waiting until ${new Date(event.until).toISOString()}: ${visible(event.why)}`;
    }
    case "warning":
      return `warning: ${event.node === undefined ? "" : `${event.node}: `}${visible(event.message)}`;
    case "restart":
      return `the cache was damaged (${event.why}); going through the pipeline again, whatever is intact is used`;
    default:
      return null;
  }
}
