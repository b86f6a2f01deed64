// Loaded before bench (node --require): at a named call it fails as a disk does, or the process dies, before the call or after it.
// BENCH_FAULT = { op: "writeFile" | "rename" | "mkdir" | "row" | "clock", path?: regular expression, call: number, fault: code | "KILL" | milliseconds,
// when?: "before" | "after", lasting?: boolean }; BENCH_FAULT_SQLITE = path of the SQLite driver.
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const spec = JSON.parse(process.env.BENCH_FAULT);
let calls = 0;
const strikes = () => {
  calls += 1;
  return spec.lasting === true ? calls >= spec.call : calls === spec.call;
};
const die = () => process.kill(process.pid, "SIGKILL");
const failure = (op) => Object.assign(new Error(`${spec.fault}: injected, ${op}`), { code: spec.fault, syscall: op });

if (spec.op === "clock") {
  const now = Date.now;
  Date.now = () => now() + (strikes() || calls > spec.call ? spec.fault : 0);
} else if (spec.op === "row") {
  const { Database } = require(process.env.BENCH_FAULT_SQLITE);
  for (const name of ["all", "run", "exec", "get"]) {
    const original = Database.prototype[name];
    Database.prototype[name] = function (sql, ...rest) {
      if (!/^\s*(?:INSERT|UPDATE|REPLACE|COMMIT)/i.test(sql) || !strikes()) return original.call(this, sql, ...rest);
      const callback = rest.findLast((one) => typeof one === "function");
      if (spec.fault !== "KILL") {
        setImmediate(() => callback?.(failure("row")));
        return this;
      }
      if (spec.when === "before") die();
      const others = rest.filter((one) => one !== callback);
      return original.call(this, sql, ...others, die);
    };
  }
} else {
  const original = fs.promises[spec.op];
  const path = new RegExp(spec.path ?? "");
  fs.promises[spec.op] = async (first, ...rest) => {
    if (!path.test(String(first)) || !strikes()) return original(first, ...rest);
    if (spec.fault !== "KILL") throw failure(spec.op);
    if (spec.when === "before") die();
    await original(first, ...rest);
    die();
  };
  syncBuiltinESMExports();
}
