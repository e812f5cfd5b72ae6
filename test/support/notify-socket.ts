import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { programPath } from "./program.ts"
import { until } from "./until.ts"

/** Prints each datagram that arrives at a Unix socket, as systemd would read it. Node has no such sockets. */
const receiver = `use IO::Socket::UNIX; use Socket; $| = 1;
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die $!;
while (defined $socket->recv(my $message, 65536)) { print "$message\\n" }`

/** Why there can be none; undefined when there can. */
export function notifySocketMissing(): string | undefined {
  if (programPath("systemd-notify") === undefined) return "needs systemd-notify (apt-get install systemd)"
  const perl = spawnSync("perl", ["-MIO::Socket::UNIX", "-e", "1"])
  return perl.status === 0 ? undefined : "needs perl"
}

/** A socket for `NOTIFY_SOCKET` in a folder, and the messages that came so far. */
export async function openNotifySocket(folder: string): Promise<{
  readonly path: string
  readonly messages: () => readonly string[]
  readonly close: () => void
}> {
  const path = join(folder, "notify")
  const child = spawn("perl", ["-e", receiver, path], { stdio: ["ignore", "pipe", "inherit"] })
  let received = ""
  child.stdout.on("data", (text) => {
    received += text
  })
  await until(() => existsSync(path))
  return {
    path,
    // systemd-notify adds BARRIER=1 to wait for the reader.
    messages: () => received.split("\n").filter((line) => line !== "" && line !== "BARRIER=1"),
    close: () => child.kill(),
  }
}
