/** The data inside this file: read once, blocks of details when they are asked for. */
import type { CaseDetail, CaseTable, PageData, RunFacts } from "../page-data.js";
import { haystack } from "./filter.js";

export interface Store {
  readonly data: PageData;
  readonly run: RunFacts | null;
  readonly table: CaseTable;
  readonly words: readonly string[];
  readonly positions: ReadonlyMap<string, number>;
  readonly detail: (index: number) => Promise<CaseDetail | null>;
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

async function inflated(base64: string): Promise<unknown> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

export function readData(): { data: PageData; run: RunFacts | null } {
  return { data: JSON.parse(textOf("data")) as PageData, run: JSON.parse(textOf("run")) as RunFacts | null };
}

export async function openStore({ data, run }: { data: PageData; run: RunFacts | null }): Promise<Store> {
  const table = (await inflated(textOf("table"))) as CaseTable;
  const blocks = new Map<number, Promise<readonly CaseDetail[]>>();
  const detail = async (index: number): Promise<CaseDetail | null> => {
    const block = Math.floor(index / data.block);
    const known = blocks.get(block) ?? (inflated(textOf(`block-${block}`)) as Promise<readonly CaseDetail[]>);
    blocks.set(block, known);
    return (await known)[index % data.block] ?? null;
  };
  return { data, run, table, words: haystack(table), positions: new Map(table.ids.map((id, index) => [id, index])), detail };
}
