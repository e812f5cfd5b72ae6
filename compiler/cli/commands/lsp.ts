import { resolve } from "node:path"
import { Readable, Writable } from "node:stream"
import manifest from "../../../package.json" with { type: "json" }
import { type CommandLine, command, exitCode } from "../command.ts"
import { configOption, type ProjectArgs, readProject } from "../options.ts"

interface LspArgs {
  readonly project: ProjectArgs
}

const lspLine: CommandLine<LspArgs> = {
  options: [configOption, ["--stdio", "talk by standard input and output, which is always so"]],
  examples: [["sallyport lsp", "what an editor starts; see `sallyport docs editors`"]],
  parse: (_, options) => ({ project: readProject(options) }),
}

/** Serves an editor by the Language Server Protocol until it ends. */
export const lsp = command(lspLine, async ({ project }, io) => {
  const { keepHeapSmall } = await import("../../lsp/small-heap.ts")
  keepHeapSmall()
  const { serveEditor } = await import("../../lsp/serve.ts")
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      io.out(chunk.toString())
      done()
    },
  })
  await serveEditor(Readable.from(io.bytes()), output, {
    ...{ folder: resolve(io.cwd, project.folder), entry: project.entry, version: manifest.version },
    // Loads nothing and looks for nothing before a person asks.
    ask: async (question) => (await import("../engine-asker.ts")).engineAsker(io)(question),
  })
  return exitCode.ok
})
