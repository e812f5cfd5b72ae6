import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { copyEmbedded } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { freePorts } from "./sallyport-process.ts"

/** The ports the example has by itself: gateway, engine, identity provider, control, and the two backends. */
export const usualPorts = [8000, 8080, 8081, 8082, 9001, 9002] as const

/** A folder with a project on ports of its own, and the command where npx finds it. */
export interface Example {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  /** In the order of `usualPorts`. */
  readonly ports: readonly number[]
  /** A text with the usual addresses, with those of this folder instead. */
  own(text: string): string
}

/** A folder with the example. `prepared`: with a migrated embedded database and no plan; making one takes ten seconds of CPU time. */
export async function example(prepared: "prepared" | "bare" = "bare"): Promise<Example> {
  const place = await emptyPlace()
  cpSync(`${projectRoot}models`, join(place.folder, "models"), { recursive: true })
  writeFileSync(
    join(place.folder, "gateway.conf"),
    place.own(readFileSync(`${projectRoot}gateway.conf`, "utf8")),
  )
  if (prepared === "prepared") {
    mkdirSync(join(place.folder, ".sallyport"), { mode: 0o700 })
    await copyEmbedded(join(place.folder, ".sallyport"))
  }
  return place
}

/** A folder without a project. */
export async function emptyPlace(): Promise<Example> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-dev-"))
  const ports = await freePorts(usualPorts.length)
  const [, , identity, control, first, second] = ports
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true })
  symlinkSync(`${projectRoot}compiler/cli/sallyport.mjs`, join(folder, "node_modules/.bin/sallyport"))
  return {
    folder,
    ports,
    // The token of whoever runs these tests is not theirs to use.
    env: {
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
      SALLYPORT_CONTROL_TOKEN: "",
      SALLYPORT_DATABASE_URL: "",
    },
    argv: [
      "dev",
      "--identity",
      `127.0.0.1:${identity}`,
      "--backends",
      `127.0.0.1:${first},127.0.0.1:${second}`,
    ],
    own: (text) =>
      usualPorts.reduce(
        (all, port, at) =>
          all.replace(new RegExp(`(127\\.0\\.0\\.1|localhost):${port}\\b`, "g"), `$1:${ports[at]}`),
        text,
      ),
  }
}

/** To be put before a line for `bash`. npx uses a second of CPU time to find the command and then starts the same file. */
export const quickNpx = 'npx() { "node_modules/.bin/$1" "${@:2}"; }'

/** A line in bash, as somebody pastes it in another terminal of the folder. */
export function bash(folder: string, line: string): Promise<{ code: number; out: string }> {
  const { SALLYPORT_CONTROL_URL: _, ...env } = process.env
  return new Promise((resolve) => {
    execFile("bash", ["-c", line], { cwd: folder, env: { ...env, NO_COLOR: "1" } }, (error, out) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out }),
    )
  })
}
