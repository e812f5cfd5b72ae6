import { readFileSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { type Running, streamBytes } from "./servers.ts"

const mebibyte = 1024 ** 2

/** By how many MiB the server's resident memory grew at most while a gibibyte went through it, to the client and to the backend. */
export async function growthOfStreams(server: Running): Promise<{ download: number; upload: number }> {
  return {
    download: await growth(server, () => download(server.port)),
    upload: await growth(server, () => upload(server.port)),
  }
}

async function growth({ pid }: Running, work: () => Promise<void>): Promise<number> {
  // The highest size is counted from here (proc(5), clear_refs).
  writeFileSync(`/proc/${pid}/clear_refs`, "5")
  const before = memoryOf(pid, "VmRSS")
  await work()
  return memoryOf(pid, "VmHWM") - before
}

/** In MiB. */
function memoryOf(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024
}

function download(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = 0
    request({ port, host: "127.0.0.1", path: "/stream" }, (response) => {
      response.on("data", (chunk: Buffer) => {
        received += chunk.length
      })
      response.once("error", reject)
      response.once("end", () => settle(received, resolve, reject))
    })
      .once("error", reject)
      .end()
  })
}

function upload(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-length": streamBytes }
    const sending = request(
      { port, host: "127.0.0.1", path: "/stream", method: "POST", headers },
      (response) => {
        let answer = ""
        response.setEncoding("latin1").on("data", (text: string) => {
          answer += text
        })
        response.once("end", () => settle(Number(answer), resolve, reject))
      },
    )
    sending.once("error", reject)
    const chunk = Buffer.alloc(mebibyte / 16)
    let left = streamBytes / chunk.length
    const more = () => {
      while (left > 0) {
        left -= 1
        if (!sending.write(chunk)) break
      }
      if (left === 0) sending.end()
      else sending.once("drain", more)
    }
    more()
  })
}

function settle(bytes: number, resolve: () => void, reject: (error: Error) => void): void {
  if (bytes === streamBytes) resolve()
  else reject(new Error(`${bytes} bytes went through instead of ${streamBytes}`))
}
