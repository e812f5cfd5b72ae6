import { createInterface } from "node:readline"
import { Writable } from "node:stream"

/** Reads a line of a terminal without showing it: the terminal is told to show nothing, and what a line editor would show goes nowhere. Empty when it is taken back. */
export function hiddenLine(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  output.write(question)
  return new Promise((resolve) => {
    editor.once("close", () => resolve(""))
    editor.question("", (line) => {
      resolve(line)
      editor.close()
    })
  }).finally(() => output.write("\n")) as Promise<string>
}
