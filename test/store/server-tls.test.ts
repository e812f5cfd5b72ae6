import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const certificates = fileURLToPath(new URL("../gateway/certificates/", import.meta.url))
const pem = (name: string) => readFileSync(`${certificates}${name}.pem`, "utf8")
const ca = `${certificates}ca.pem`
const isEncrypted = {
  name: "",
  text: "select ssl, version from pg_stat_ssl where pid = pg_backend_pid()",
}

/** `postgres` may come either way, `secret` only encrypted, `open` only in the clear. */
const rules = `local all all trust
hostnossl all secret 127.0.0.1/32 reject
hostssl all open 127.0.0.1/32 reject
host all all 127.0.0.1/32 trust
`

describePostgres("a server that offers TLS", () => {
  let server: ThrowAwayPostgres
  beforeAll(async () => {
    server = await startThrowAwayPostgres({
      settings: ["ssl=on"],
      files: {
        "server.crt": pem("good"),
        "server.key": readFileSync(`${certificates}server.key`, "utf8"),
        "pg_hba.conf": rules,
      },
    })
    const admin = openPostgres(server.socketUrl("postgres"))
    await admin.query({ name: "", text: "create role secret login; create role open login" })
    await admin.close()
  })
  afterAll(() => server.stop())

  const ask = async (user: string, host: string, query: string) => {
    const database = openPostgres(`postgres://${user}@${host}:${server.port}/postgres?${query}`)
    try {
      const [row] = await database.query<[boolean, string | null]>(isEncrypted)
      return row?.[0]
    } finally {
      await database.close()
    }
  }

  test.each([
    ["postgres", "127.0.0.1", "", true],
    ["postgres", "127.0.0.1", "sslmode=prefer", true],
    ["postgres", "127.0.0.1", "sslmode=disable", false],
    ["postgres", "127.0.0.1", "sslmode=allow", false],
    ["secret", "127.0.0.1", "sslmode=allow", true],
    ["open", "127.0.0.1", "sslmode=prefer", false],
    ["postgres", "127.0.0.1", "sslmode=require", true],
    ["postgres", "127.0.0.1", `sslmode=require&sslrootcert=${ca}`, true],
    ["postgres", "127.0.0.1", `sslmode=verify-ca&sslrootcert=${ca}`, true],
    ["postgres", "127.0.0.1", `sslmode=verify-full&sslrootcert=${ca}`, true],
    ["postgres", "localhost", `sslmode=verify-full&sslrootcert=${ca}`, true],
    ["postgres", "elsewhere.example", `hostaddr=127.0.0.1&sslmode=verify-ca&sslrootcert=${ca}`, true],
    [
      "postgres",
      "127.0.0.1",
      `sslmode=require&ssl_min_protocol_version=TLSv1.3&channel_binding=prefer`,
      true,
    ],
  ])("%s at %s with %s: encrypted is %s", async (user, host, query, encrypted) => {
    expect(await ask(user, host, query)).toBe(encrypted)
  })

  test.each([
    [
      "postgres",
      "127.0.0.1",
      "sslmode=verify-full",
      /TLS with 127\.0\.0\.1:\d+ failed: .*set sslrootcert to the file/,
    ],
    [
      "postgres",
      "127.0.0.1",
      "sslmode=verify-ca&sslrootcert=/none.pem",
      /sslrootcert: the file \/none\.pem cannot be read \(ENOENT\)/,
    ],
    [
      "postgres",
      "elsewhere.example",
      `hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=${ca}`,
      /must contain the host name of the URL/,
    ],
    [
      "postgres",
      "127.0.0.1",
      `sslmode=require&sslrootcert=${certificates}self-signed.pem`,
      /set sslrootcert to the file/,
    ],
    ["open", "127.0.0.1", "sslmode=require", /pg_hba\.conf/],
    ["secret", "127.0.0.1", "sslmode=disable", /pg_hba\.conf/],
    [
      "postgres",
      "127.0.0.1",
      "sslmode=require&sslnegotiation=direct",
      /TLS with .* failed|does not take sslnegotiation=direct/,
    ],
  ])("%s at %s with %s is refused: %s", async (user, host, query, reason) => {
    await expect(ask(user, host, query)).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringMatching(reason),
    })
  })

  test("a renewed file of the authority is read by the next connection", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-ca-"))
    const file = join(folder, "ca.pem")
    copyFileSync(`${certificates}self-signed.pem`, file)
    const database = openPostgres(
      `postgres://postgres@127.0.0.1:${server.port}/postgres?sslmode=verify-full&sslrootcert=${file}`,
    )
    try {
      await expect(database.query(isEncrypted)).rejects.toMatchObject({ name: "SourceUnavailable" })
      copyFileSync(ca, file)
      await expect.poll(() => database.query(isEncrypted).catch(() => [])).toMatchObject([[true, "TLSv1.3"]])
    } finally {
      await database.close()
      rmSync(folder, { recursive: true })
    }
  })
})

describePostgres("a server without TLS", () => {
  test("is used in the clear, unless the URL demands TLS", async () => {
    const server = await startThrowAwayPostgres()
    const plain = openPostgres(server.url("postgres"))
    const demanding = openPostgres(`${server.url("postgres")}?sslmode=require`)
    try {
      expect(await plain.query(isEncrypted)).toEqual([[false, null]])
      await expect(demanding.query(isEncrypted)).rejects.toThrow(
        "does not offer TLS, which sslmode=require demands",
      )
    } finally {
      await Promise.all([plain.close(), demanding.close()])
      await server.stop()
    }
  })
})
