#!/usr/bin/env node
// The command: checks Node, builds dist/ if it is missing or stale (in a clone; an installed package has only dist/), and runs it. There
// are no static imports and no newer syntax before the check, so that an old Node shows the message and not a stack.
const wanted = [20, 19]
const version = process.versions.node.split(".").map(Number)

if (version[0] < wanted[0] || (version[0] === wanted[0] && version[1] < wanted[1])) {
  console.error(
    `sallyport needs Node.js ${wanted.join(".")} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      "Install a newer one (https://nodejs.org), or select it with your version manager.",
  )
  process.exitCode = 1
} else {
  start().catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
}

async function start() {
  const { existsSync } = await import("node:fs")
  const { fileURLToPath } = await import("node:url")
  const builder = new URL("./build.mjs", import.meta.url)
  const built = new URL("../../dist/main.js", import.meta.url)
  if (existsSync(builder) && !(await builds(builder, existsSync(built)))) return
  if (!existsSync(built)) {
    console.error(
      "sallyport is installed incompletely: its folder dist/ is missing.\nRun `npm install` again.",
    )
    process.exitCode = 1
    return
  }
  // From Node 22 on, the compile cache is next to the code, where only the user who installed it can write. In a shared folder, other users
  // could insert their code.
  const { enableCompileCache } = await import("node:module")
  enableCompileCache?.(fileURLToPath(new URL("cache", built)))
  const { main } = await import(built.href)
  process.exitCode = await main(process.argv.slice(2))
}

/** Whether dist/ exists and is current. Prints the reason if not. */
async function builds(builder, hasDist) {
  try {
    const { ensureBuilt } = await import(builder.href)
    await ensureBuilt()
    return true
  } catch (error) {
    if (error.code === "ERR_MODULE_NOT_FOUND")
      console.error(
        hasDist
          ? "sallyport's dist/ was built from other sources, and the tool that builds it is not installed.\nRun `npm ci` in the folder of sallyport."
          : "sallyport is not built, and the tool that builds it is not installed.\nRun `npm ci` in the folder of sallyport.",
      )
    else
      console.error(error.errors ? "sallyport could not be built: its sources have the errors above." : error)
    process.exitCode = 1
    return false
  }
}
