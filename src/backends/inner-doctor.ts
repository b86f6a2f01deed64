/** What `bench doctor` says of a backend that asks others: what each of them says, under its name. */
import type { AnyKind, DoctorEnvironment, Finding } from "./contract.js";

export async function innerFindings(
  inner: readonly { readonly name: string; readonly kind: AnyKind; readonly options: unknown }[],
  environment: DoctorEnvironment,
): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    inner.map(async ({ name, kind, options }) => {
      const found = (await kind.doctor?.(options, environment)) ?? [];
      if (found.length === 0)
        return [{ check: name, status: "ok" as const, found: `${kind.kind} is built in and needs nothing else` }];
      return found.map((finding) => ({ ...finding, check: `${name} ${finding.check}` }));
    }),
  );
  return findings.flat();
}
