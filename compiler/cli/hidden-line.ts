import { createInterface } from "node:readline"
import { Writable } from "node:stream"

/**
 * Reads a line from a terminal without showing it: echo is off, and the output of the line editor is discarded. Empty when the user
 * cancels.
 */
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
