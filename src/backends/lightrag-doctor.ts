/** What `bench doctor` says of a LightRAG server: does it answer, which version, is the key taken, what does it hold. Asks no model. */
import type { DoctorEnvironment, Finding } from "./contract.js";
import { call, documents, type LightragServer } from "./lightrag-client.js";

export async function lightragFindings(
  server: LightragServer,
  { signal, offline }: DoctorEnvironment,
): Promise<readonly Finding[]> {
  if (offline) return [{ check: "probe", status: "warning", found: `${server.url} was not asked (--offline)` }];
  const health = await call(server, "GET", "/health", undefined, signal);
  // Some set-ups guard even this: whether the key is taken shows below.
  if (!health.ok && (health.error.http === null || health.error.http >= 404))
    return [{ check: "server", status: "problem", found: health.error.message }];
  const findings: Finding[] = [
    { check: "server", status: "ok", found: `LightRAG${versionIn(health.ok ? health.value : null)} answers at ${server.url}` },
  ];
  const stored = await documents(server, signal);
  if (!stored.ok) {
    const isKey = stored.error.http === 401 || stored.error.http === 403;
    return [...findings, { check: isKey ? "key" : "documents", status: "problem", found: stored.error.message }];
  }
  findings.push({
    check: "key",
    status: "ok",
    found: server.key === undefined ? "none is wanted" : `the one in ${server.keyName} is taken`,
  });
  const counts = new Map<string, number>();
  for (const { status } of stored.value) counts.set(status, (counts.get(status) ?? 0) + 1);
  const [ready, failed] = [counts.get("processed") ?? 0, counts.get("failed") ?? 0];
  const waiting = stored.value.length - ready - failed;
  const shown = [
    `${ready} ready`,
    ...(waiting > 0 ? [`${waiting} on their way`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ].join(", ");
  if (stored.value.length === 0)
    findings.push({
      check: "documents",
      status: "warning",
      found: "it holds none",
      fix: "add an index-corpus stage to `needs`, or insert the source tree's files",
    });
  else if (failed > 0 || waiting > 0)
    findings.push({
      check: "documents",
      status: "warning",
      found: shown,
      fix: failed > 0 ? "look at the server's log, and run the index-corpus stage again" : "wait until they are ready",
    });
  else findings.push({ check: "documents", status: "ok", found: `${shown}; the server does not know of which commit` });
  return findings;
}

function versionIn(health: unknown): string {
  const { core_version, api_version } = (typeof health === "object" && health !== null ? health : {}) as Record<string, unknown>;
  const version = typeof core_version === "string" ? core_version : typeof api_version === "string" ? api_version : "";
  return /^[\w.+-]{1,40}$/.test(version) ? ` ${version}` : "";
}
