import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "../base/env-secrets.js";
import { readOutput } from "./command-output.js";
import { fillTemplate, misspeltPlaceholder, PLACEHOLDERS, type Placeholder, placeholdersOf } from "./template.js";

const bytes = (text: string) => Buffer.from(text);

describe("placeholders", () => {
  const values = Object.fromEntries(PLACEHOLDERS.map((name) => [name, `<${name}>`])) as Record<Placeholder, string>;

  test("are replaced wherever they stand, other braces are left", () => {
    const args = ["--q={query}", "{id}{repeat}", "{print $1}", '{"a":1}', "{nothing_like_it}"];
    expect(fillTemplate(args, values)).toEqual(["--q=<query>", "<id><repeat>", "{print $1}", '{"a":1}', "{nothing_like_it}"]);
    expect([...placeholdersOf(args)]).toEqual(["query", "id", "repeat"]);
  });

  test("in a value they are text", () => {
    expect(fillTemplate(["{query}"], { ...values, query: "what is {id}? $& $1" })).toEqual(["what is {id}? $& $1"]);
  });

  test("any text goes through unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (query) => {
        expect(fillTemplate(["a{query}b"], { ...values, query })).toEqual([`a${query}b`]);
      }),
    );
  });

  test("a slip of the pen is found", () => {
    expect(misspeltPlaceholder(["{qeury}"])).toEqual({ wrong: "qeury", right: "query" });
    expect(misspeltPlaceholder(["{base-commit} {print} {query}"])).toBeUndefined();
  });
});

describe("redactor", () => {
  const env = {
    API_KEY: "s3cr3t-value",
    LONGER_TOKEN: "s3cr3t-value-and-more",
    HOME: "/home/me",
    MODEL: "some-model",
    OTHER_KEY: "abc",
  };

  test("takes out secret-sounding and passed-on values, the longest first", () => {
    const redact = redactor(env, ["MODEL"]);
    expect(redact("401 for s3cr3t-value-and-more (some-model), s3cr3t-value in /home/me, abc")).toBe(
      "401 for [LONGER_TOKEN] ([MODEL]), [API_KEY] in /home/me, abc",
    );
  });

  test("values are no patterns", () => {
    expect(redactor({ TOKEN: "a.*$&(b" }, [])("xa.*$&(bx axxx(b")).toBe("x[TOKEN]x axxx(b");
  });
});

describe("readOutput", () => {
  test("auto and text: as printed", () => {
    for (const form of ["auto", "text"] as const) {
      expect(readOutput(bytes(" a\r\nb\n"), form, false)).toEqual({ response: " a\r\nb\n", details: {} });
    }
  });

  test("json: one value, or one per line; anything else is no answer", () => {
    for (const text of ['{"classes": []}\n', '{"path":"a"}\n\n{"path":"b"}\n', "[]"]) {
      expect(readOutput(bytes(text), "json", false)).toEqual({ response: text, details: {} });
    }
    expect(readOutput(bytes("Loading...\n{}"), "json", false).error).toContain("not JSON");
  });

  test("lines: each is one path, blanks and quotes included", () => {
    const { response } = readOutput(bytes('src/my file.c\r\n\r\n  b "c".h \n'), "lines", false);
    expect(JSON.parse(response)).toEqual({ classes: [{ path: "src/my file.c" }, { path: 'b "c".h' }] });
  });

  test("silence is a failure unless it is said to be an answer", () => {
    for (const form of ["auto", "json", "lines", "text"] as const) {
      expect(readOutput(bytes(" \n"), form, false).error).toContain("empty_is_answer");
      expect(readOutput(bytes(" \n"), form, true)).toEqual({ response: '{"classes":[]}', details: { empty_output: true } });
    }
  });

  test("bytes that are no UTF-8 are said beside the answer", () => {
    const { response, details } = readOutput(Buffer.from([0x61, 0xff, 0x00, 0x62]), "auto", false);
    expect(response).toBe("a\ufffd\0b");
    expect(details).toEqual({ invalid_utf8: true });
  });
});
