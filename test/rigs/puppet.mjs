// A system under test on strings: it tells the test who it is and what it was asked, waits for the word, and answers what it is told.
// Usage: puppet.mjs ID REPEAT [--stubborn]; the question is on standard input, the test listens on PUPPET_PORT; PUPPET_RUN says
// which run started it.
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const [id, repeat, stubborn] = process.argv.slice(2);
if (stubborn === "--stubborn") process.on("SIGTERM", () => {});
const query = readFileSync(0, "utf8");
const socket = connect(Number(process.env.PUPPET_PORT), "127.0.0.1", () => {
  socket.write(`${JSON.stringify({ id, repeat: Number(repeat), pid: process.pid, run: process.env.PUPPET_RUN ?? "", query })}\n`);
});
let heard = "";
socket.setEncoding("utf8").on("data", (text) => {
  heard += text;
  if (!heard.includes("\n")) return;
  const { answer, exit } = JSON.parse(heard);
  process.stdout.write(answer, () => process.exit(exit));
});
// The test has gone, or let go of this one: nobody waits for an answer.
for (const end of ["end", "error"]) socket.on(end, () => process.exit(3));
