import { existsSync } from "node:fs"
import { copyFile, mkdir, readdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"

interface PlaygroundArgs {
  /** Where to write the page, relative to the current folder. */
  readonly out: string
  readonly format: "text" | "json"
}

const playgroundLine: CommandLine<PlaygroundArgs> = {
  options: [["--out <dir>", "folder for the page; created if missing"], ...formatOptions],
  examples: [["sallyport playground --out public", "write the playground for any web server to serve"]],
  parse: (_, options) => {
    const { out } = options
    if (typeof out !== "string" || out === "")
      throw new CliError(
        "a folder is missing",
        "Name the folder that the page is written to: `sallyport playground --out DIR`.",
      )
    return { out, format: readFormat(options, ["text", "json"]) }
  },
}

/** Writes the playground as static files. Files of the same names are replaced, others stay. */
export const playground = command(playgroundLine, async ({ out, format }, io) => {
  const source = join(dirname(createRequire(import.meta.url).resolve("#package")), "dist/playground")
  if (!existsSync(source))
    throw new CliError(
      `this installation has no playground: ${source} is missing`,
      "Run `npx sallyport playground --out DIR` of the npm package.",
    )
  const target = resolve(io.cwd, out)
  const files = (await readdir(source)).sort()
  try {
    await mkdir(target, { recursive: true })
    for (const file of files) await copyFile(join(source, file), join(target, file))
  } catch (error) {
    throw new CliError(
      `${target} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      "Choose a folder this user may write to: `sallyport playground --out DIR`.",
    )
  }
  print(
    io,
    format,
    { folder: target, files: files.length },
    () =>
      `Wrote the playground to ${out}: ${files.length} files.\nServe the folder with any web server; files ending in .br and .gz are the same, compressed.\n`,
  )
  return exitCode.ok
})
