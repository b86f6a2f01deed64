import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { bench } from "../../test/rigs/bench-command.js";
import { COMMANDS } from "./commands.js";

const script = async (shell: string) => (await bench("/", ["completion", shell])).stdout;
const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

describe("bench completion", () => {
  test.each(["bash", "zsh", "fish"])("%s: every command and every option, from their definitions", async (shell) => {
    const text = await script(shell);
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      expect(text).toContain(name);
      for (const { flag } of (await load()).command.options) {
        const [, option = ""] = /--([a-z-]+)/.exec(flag) ?? [];
        expect(text).toContain(shell === "fish" ? `-l ${option}` : `--${option}`);
      }
    }
    if (has(shell)) expect(spawnSync(shell, ["-n", "-c", text], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
  });

  test.skipIf(!has("bash"))("bash completes commands, options of the command, and runs", async () => {
    const text = await script("bash");
    const complete = (...words: string[]) => {
      const line = `${text}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _bench; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("bash", ["-c", line], { encoding: "utf8" }).stdout.trim().split("\n");
    };
    expect(complete("bench", "res")).toEqual(["rescore"]);
    expect(complete("bench", "run", "--fail")).toEqual(["--fail-under"]);
    expect(complete("bench", "report", "lat")).toContain("latest");
  });

  test("another shell is told which there are", async () => {
    expect(await bench("/", ["completion", "tcsh"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("none of bash, zsh, fish"),
    });
  });
});
