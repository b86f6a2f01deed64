/** The bytes of a data set's file as the text that its readers take. */
import { err, ok, type Result } from "../base/result.js";
import { beginsLikeParquet, isParquet, parquetAsJsonLines } from "./parquet.js";

/** Parquet as JSON Lines, everything else as UTF-8. The error is a sentence that goes on from the file's name. */
export async function datasetText(bytes: Uint8Array): Promise<Result<string, string>> {
  if (isParquet(bytes)) return parquetAsJsonLines(bytes);
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    const cut = beginsLikeParquet(bytes);
    return err(cut ? "begins like Parquet and does not end so: download it again" : "is not UTF-8 text, or too large for one");
  }
}
