import { describe, expect, test } from "vitest";
import { renderPrompt } from "./prompt.js";

const issue = { title: "  It crashes ", body: "\r\nOn resume.\n\nAlways.\n" };

describe("renderPrompt", () => {
  test("text: title, blank line, body", () => {
    expect(renderPrompt("text", issue)).toBe("It crashes\n\nOn resume.\n\nAlways.");
  });

  test("text: what is empty is left out", () => {
    expect(renderPrompt("text", { title: "Title", body: null })).toBe("Title");
    expect(renderPrompt("text", { title: " ", body: "Body" })).toBe("Body");
    expect(renderPrompt("text", { title: "", body: "" })).toBe("");
  });

  test("text: neither format nor task, whatever the options", () => {
    expect(renderPrompt("text", issue, { extraPrompt: "Think.", extensions: [".java"] })).toBe(renderPrompt("text", issue));
  });

  test("none: nothing", () => {
    expect(renderPrompt("none", issue)).toBe("");
  });

  test("text+format: four blocks in order", () => {
    const prompt = renderPrompt("text+format", issue, { extraPrompt: " Name the classes. ", extensions: [".java"] });
    expect(
      prompt
        .split("\n\n")
        .filter((block) => /^[A-Z][a-z ]+:\n/.test(block))
        .map((block) => block.split("\n")[0]),
    ).toEqual(["Issue title:", "Issue description:", "Required answer format:", "Task:"]);
    expect(prompt).toContain('{"classes":[{"path":');
    expect(prompt).toContain("ends with .java.");
    expect(prompt).toContain("No Markdown");
    expect(prompt.endsWith("Task:\nName the classes.")).toBe(true);
  });

  test("text+format: a missing description is said to be missing; a default task", () => {
    const prompt = renderPrompt("text+format", { title: "T", body: " \n" }, { extraPrompt: "" });
    expect(prompt).toContain("Issue description:\n(no description provided)\n\n");
    expect(prompt).not.toContain("ends with");
    expect(prompt).toMatch(/Task:\nFind the source files/);
  });
});
