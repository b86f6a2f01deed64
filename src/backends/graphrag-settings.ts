/**
 * GraphRAG's settings file, made to fit: which documents it reads, and which models it asks. Pure.
 *
 * The file that `graphrag init` writes is the only one that fits its release, so it is edited and not replaced. Its shape tells the release's
 * habits: `completion_models` since 3.0, `models` in 2.x, `llm` before.
 */
import { isMap, parseDocument } from "yaml";
import { err, ok, type Result } from "../base/result.js";

/** How documents reach the index. `json`: one file with path and text of each; `text`: a file each, its path in the first line. */
export type DocumentForm = "json" | "text";

export interface SettingsWishes {
  readonly model: string | undefined;
  readonly embeddingModel: string | undefined;
  readonly apiBase: string | undefined;
}

export interface FittedSettings {
  readonly text: string;
  readonly documents: DocumentForm;
}

/** `settings`: as `graphrag init` wrote it. The error says what about it is not understood. */
export function fitSettings(settings: string, wishes: SettingsWishes): Result<FittedSettings, string> {
  const document = parseDocument(settings);
  if (document.errors[0] !== undefined || !isMap(document.contents)) {
    return err(
      `the settings that GraphRAG wrote are no YAML mapping: ${document.errors[0]?.message ?? "another kind of document"}`,
    );
  }
  const set = (path: readonly string[], value: unknown) => {
    if (value !== undefined) document.setIn(path, value);
  };
  const models = (chat: readonly string[], embedding: readonly string[]) => {
    set([...chat, "model"], wishes.model);
    set([...embedding, "model"], wishes.embeddingModel);
    set([...chat, "api_base"], wishes.apiBase);
    set([...embedding, "api_base"], wishes.apiBase);
  };
  if (document.has("completion_models")) {
    models(["completion_models", "default_completion_model"], ["embedding_models", "default_embedding_model"]);
    // Two files of equal content are two documents: their ids are their paths and not the digests of their texts.
    set(["input"], { type: "json", id_column: "path", title_column: "path", text_column: "text" });
    // Each chunk then begins with its file's path, or an answer could not name files.
    set(["chunking", "prepend_metadata"], ["path"]);
    return ok({ text: document.toString(), documents: "json" });
  }
  if (document.has("models")) {
    models(["models", "default_chat_model"], ["models", "default_embedding_model"]);
    // `auto` follows headers that only some servers send, and without them makes one request per minute.
    if (wishes.apiBase !== undefined) {
      for (const model of ["default_chat_model", "default_embedding_model"]) {
        for (const limit of ["tokens_per_minute", "requests_per_minute"]) set(["models", model, limit], null);
      }
    }
    set(["input", "file_type"], "json");
    // `$$` is one `$`: the file goes through Python's string.Template.
    set(["input", "file_pattern"], ".*\\.json$$");
    set(["input", "title_column"], "path");
    set(["input", "text_column"], "text");
    set(["input", "metadata"], ["path"]);
    set(["chunks", "prepend_metadata"], true);
    return ok({ text: document.toString(), documents: "json" });
  }
  if (document.has("llm")) {
    models(["llm"], ["embeddings", "llm"]);
    return ok({ text: document.toString(), documents: "text" });
  }
  return err(
    "the settings that GraphRAG wrote have none of the sections completion_models, models, llm: give your own with `settings:`",
  );
}
