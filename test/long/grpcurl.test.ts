import { execFile } from "node:child_process"
import { expect, test } from "vitest"
import { describeGrpc } from "../authz/grpc-served.ts"
import { documentModel } from "../authz/harness.ts"
import { programPath } from "../support/program.ts"

const grpcurl = process.env["GRPCURL_BIN"] || programPath("grpcurl")
const missing = "no grpcurl: `go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3`, or GRPCURL_BIN"
const service = "openfga.v1.OpenFGAService"

/** What grpcurl printed, and its exit code: 64 and the status of the call, when that is not 0. Asynchronous: the server is in this process. */
function run(...flags: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(grpcurl as string, ["-plaintext", ...flags], { timeout: 280_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

describeGrpc("grpcurl, which knows the messages by reflection alone", (served) => {
  const address = () => `127.0.0.1:${served().port}`
  const call = async (method: string, message: object) => {
    const ended = await run("-d", JSON.stringify(message), address(), `${service}/${method}`)
    return { ...ended, json: ended.code === 0 ? JSON.parse(ended.stdout) : undefined }
  }

  test("finds the services and their methods", async (context) => {
    if (grpcurl === undefined) context.skip(missing)
    expect((await run(address(), "list")).stdout.split("\n")).toEqual(
      expect.arrayContaining([service, "grpc.health.v1.Health"]),
    )
    const { stdout } = await run(address(), "list", service)
    expect(stdout.trim().split("\n")).toHaveLength(19)
    expect((await run(address(), "describe", "openfga.v1.CheckRequest")).stdout).toMatch(/tuple_key = 2/)
    expect(await run(address(), "grpc.health.v1.Health/Check")).toMatchObject({
      stdout: expect.stringMatching(/"status": "SERVING"/),
    })
  })

  test("asks questions, reads a stream and gets the status of an error", async (context) => {
    if (grpcurl === undefined) context.skip(missing)
    const { id: store_id } = (await call("CreateStore", { name: "grpcurl" })).json
    await call("WriteAuthorizationModel", { store_id, ...documentModel })
    const tuple_key = { user: "user:ann", relation: "owner", object: "document:1" }
    expect(await call("Write", { store_id, writes: { tuple_keys: [tuple_key] } })).toMatchObject({ code: 0 })
    const asked = { store_id, tuple_key: { ...tuple_key, relation: "viewer" } }
    expect((await call("Check", asked)).json).toEqual({ allowed: true })
    const listed = { store_id, user: "user:ann", relation: "viewer", type: "document" }
    expect((await call("StreamedListObjects", listed)).json).toEqual({ object: "document:1" })
    const wrong = { store_id, tuple_key: { ...tuple_key, relation: "nothing" } }
    expect(await call("Check", wrong)).toMatchObject({
      stderr: expect.stringMatching(/validation_error|relation 'document#nothing' not found/),
    })
  })
})
