import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { projectRoot } from "../structure/tree.ts"
import { machine } from "./machine.ts"

/**
 * A supervisor like systemd: it holds the sockets, which are descriptors from 3 on, accepts nothing itself, and starts a service for each line of its input. The
 * process id and the exit code of the service are in files beside its log.
 */
const supervisor = `while read -r log words; do
  { sh -c 'echo $$ > "$0.pid"; export LISTEN_PID=$$; exec env "$@"' "$log" $words > "$log" 2>&1; echo $? > "$log.code"; } &
done; wait`

const command = `${process.execPath} --liftoff-only ${projectRoot}compiler/cli/sallyport.mjs serve`

describePostgres("listeners use the sockets of a supervisor", () => {
  const here = machine()
  let shell: ChildProcess

  beforeAll(async () => {
    const [gateway, , , spare] = here.ports
    const servers = [gateway, spare].map((port) => createServer().listen(port, "127.0.0.1"))
    await Promise.all(servers.map((server) => once(server, "listening")))
    const fds = servers.map((server) => (server as unknown as { _handle: { fd: number } })._handle.fd)
    const notSocket = "ignore"
    shell = spawn("sh", ["-c", supervisor], {
      cwd: here.folder,
      env: { ...process.env, NO_COLOR: "1", ...here.env, LISTEN_FDS: "3" },
      stdio: ["pipe", "inherit", "inherit", ...fds, notSocket],
    })
    for (const server of servers) server.close()
    here.write(`gateway shop { listen 127.0.0.1:${gateway}; trust none }
api hello { path "/"; auth none; GET "/" { respond 200 { body text "hello" } } }
`)
  })

  afterAll(async () => {
    for (const name of ["first", "second", "third", "other"])
      if (code(name) === undefined) end(name, "SIGKILL")
    shell.stdin?.end()
    await once(shell, "exit")
  })

  const file = (name: string) => {
    try {
      return readFileSync(join(here.folder, name), "utf8")
    } catch {
      return undefined
    }
  }
  const code = (name: string) => file(`${name}.code`)?.trim()
  const end = (name: string, signal: NodeJS.Signals) => {
    const pid = Number(file(`${name}.pid`))
    if (pid > 0) process.kill(pid, signal)
  }
  const serve = (name: string, words: string, variables = "") => {
    shell.stdin?.write(`${name} ${variables} ${command} ${words}\n`)
  }
  /** The second process has its control listener at another address. */
  const elsewhere = () => `SALLYPORT_CONTROL_LISTEN=127.0.0.1:${here.ports[1]}`
  const printed = (name: string, text: string) => expect.poll(() => file(name)).toContain(text)
  const stop = async (name: string) => {
    end(name, "SIGTERM")
    await expect.poll(() => code(name)).toBe("0")
  }
  const answer = () => here.gateway("/", { headers: { connection: "close" } }).then((each) => each.text())

  test("they stay open during a restart, and two processes can share one", async () => {
    const [gateway, , , spare] = here.ports
    serve("first", "")
    await printed("first", `"started"`)
    expect(file("first")).toContain(`"sockets":["127.0.0.1:${gateway}","127.0.0.1:${spare}"]`)
    expect(file("first")).toMatch(
      /"reason":"descriptor 5 is not a TCP socket[^"]*","msg":"passed sockets are not used"/,
    )
    expect(await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).toMatchObject({
      code: 0,
    })
    expect(await answer()).toBe("hello")
    await stop("first")
    // Nobody serves: the connection waits in the queue of the socket, and the next process answers it.
    const early = answer()
    serve("second", "--workers 2")
    expect(await early).toBe("hello")
    await printed("second", `"started"`)
    serve("third", "", elsewhere())
    await printed("third", `"socket":"127.0.0.1:${spare}","msg":"no listener uses this passed socket"`)
    await stop("second")
    expect(await Promise.all(Array.from({ length: 8 }, answer))).toEqual(Array(8).fill("hello"))
    await stop("third")
  })

  test("sockets for another process are named and not used", async () => {
    serve("other", "--only control", `LISTEN_PID=1 ${elsewhere()}`)
    await printed("other", `"reason":"LISTEN_PID is 1, but this process is `)
    await stop("other")
  })
})
