import { build } from "esbuild"
import { projectRoot } from "../structure/tree.ts"

/** A script for a page or a worker that defines `projectAnswers` (see project-answers.ts) as a global. The build fails when it needs Node.js. */
export async function browserScript(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: projectRoot,
    entryPoints: ["test/platform/project-answers.ts"],
    bundle: true,
    format: "iife",
    globalName: "answersModule",
    footer: { js: "globalThis.projectAnswers = answersModule.projectAnswers" },
    platform: "browser",
    target: "es2022",
    minify: true,
    write: false,
    logLevel: "silent",
  })
  return outputFiles[0]?.text ?? ""
}
