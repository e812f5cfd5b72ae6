import { describe, expect, test } from "vitest"
import { hostNames, readConnectionUrl } from "../../runtime/store/connection-url.ts"
import { libpqParameters, refusalOf } from "../../runtime/store/libpq-parameters.ts"

const at = (url: string) => {
  const { hosts, database, user, password } = readConnectionUrl(url)
  return `${user}:${password ?? "-"} ${hostNames(hosts)} ${database}`
}

/** The parameters of PostgreSQL 17's libpq, by its manual (section "Parameter Key Words"). */
const ofLibpq17 = `host hostaddr port dbname user password passfile require_auth channel_binding connect_timeout client_encoding options
  application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout replication
  gssencmode sslmode sslnegotiation sslcompression sslcert sslkey sslpassword sslcertmode sslrootcert sslcrl sslcrldir sslsni requirepeer
  ssl_min_protocol_version ssl_max_protocol_version krbsrvname gsslib gssdelegation service target_session_attrs load_balance_hosts`

describe("hosts, user and database", () => {
  test.each([
    ["postgres://u:p@db/x", "u:p db:5432 x"],
    ["postgresql://u@db:6000", "u:- db:6000 u"],
    ["postgres://u:p%40%2f%3A@db/x%20y", "u:p@/: db:5432 x y"],
    ["postgres://u:a@b@db/x", "u:a@b db:5432 x"],
    ["postgres://u:a:b@db/x", "u:a:b db:5432 x"],
    ["postgres://u@[::1]:6000,[2001:db8::2]/x", "u:- [::1]:6000, [2001:db8::2]:5432 x"],
    ["postgres://u@a:1,b:2/x", "u:- a:1, b:2 x"],
    ["postgres://u@a,b:2/x", "u:- a:5432, b:2 x"],
    ["postgres://u@/x?host=a,b&port=1,2", "u:- a:1, b:2 x"],
    ["postgres://u@/x?host=a,b&port=7", "u:- a:7, b:7 x"],
    ["postgres://u@/x?host=%2Frun%2Fpostgresql", "u:- /run/postgresql:5432 x"],
    ["postgres://u@%2Frun%2Fpostgresql/x", "u:- /run/postgresql:5432 x"],
    ["postgres://u@/x?host=/run/postgresql&port=6000", "u:- /run/postgresql:6000 x"],
    ["postgres:///x?user=u&password=p%26q", "u:p&q localhost:5432 x"],
    ["postgres://u@db/x?host=other&user=v&dbname=y", "v:- other:5432 y"],
    ["postgres://u@db/x?hostaddr=10.0.0.1", "u:- db:5432 x"],
  ])("%s", (url, expected) => {
    expect(at(url)).toBe(expected)
  })

  test("libpq's variables fill what the URL leaves open, and no more", () => {
    const env = {
      PGUSER: "v",
      PGPASSWORD: "w",
      PGHOST: "other",
      PGTARGETSESSIONATTRS: "any",
      PGPASSFILE: "/x",
    }
    expect(readConnectionUrl("postgres://u@db/x", env)).toMatchObject({
      user: "u",
      password: "w",
      hosts: [{ host: "db" }],
      sessionAttributes: "any",
    })
  })
})

describe("parameters", () => {
  test("each one of libpq is in the table, and is read or refused with what to do", () => {
    expect(Object.keys(libpqParameters).sort()).toEqual(ofLibpq17.split(/\s+/).sort())
    for (const name of ofLibpq17.split(/\s+/)) {
      const refusal = refusalOf(name)
      if (refusal === undefined) continue
      expect(() => readConnectionUrl(`postgres://u:hidden@db/x?${name}=1`)).toThrow(
        `the database URL has the parameter ${name}, which Sallyport does not use: ${refusal}`,
      )
    }
  })

  test("those that are read", () => {
    const url =
      "postgres://u@db/x?sslmode=verify-ca&sslrootcert=ca.pem&sslcert=c.pem&sslkey=k.pem&sslpassword=s&sslcrl=r.pem&sslsni=0" +
      "&sslnegotiation=direct&ssl_min_protocol_version=TLSv1.2&ssl_max_protocol_version=TLSv1.3&target_session_attrs=primary" +
      "&load_balance_hosts=random&connect_timeout=3&application_name=edge&options=-c%20geqo%3Doff&keepalives_idle=30&channel_binding=prefer"
    expect(readConnectionUrl(url)).toMatchObject({
      tls: {
        mode: "verify-ca",
        negotiation: "direct",
        ...{ rootCert: "ca.pem", cert: "c.pem", key: "k.pem", keyPassword: "s", revoked: "r.pem" },
        ...{ serverName: false, versionMin: "TLSv1.2", versionMax: "TLSv1.3" },
      },
      ...{ sessionAttributes: "primary", balanced: true, connectTimeoutMs: 3_000, applicationName: "edge" },
      ...{ options: "-c geqo=off", keepAliveMs: 30_000, channelBinding: true },
    })
    expect(readConnectionUrl("postgres://u@db/x?keepalives=0").keepAliveMs).toBeUndefined()
    expect(readConnectionUrl("postgres://u@db/x").tls.mode).toBe("prefer")
    expect(readConnectionUrl("postgres://u@db/x?ssl=true").tls.mode).toBe("require")
    expect(readConnectionUrl("postgres://u@db/x?sslrootcert=system").tls.mode).toBe("verify-full")
    expect(
      readConnectionUrl("postgres://u@db/x?sslcert=c&sslkey=k&sslcertmode=disable").tls.cert,
    ).toBeUndefined()
  })

  test.each([
    ["target_session_attrs=standby", "the database URL has target_session_attrs=standby: Sallyport writes"],
    ["target_session_attrs=prefer-standby", "write read-write (default), primary or any"],
    [
      "sslmode=no-verify",
      "the database URL has sslmode=no-verify: write require, which encrypts without checking",
    ],
    ["sslmode=verify_full", "write disable, allow, prefer, require, verify-ca, verify-full"],
    ["sslmode=require&sslrootcert=system", "sslrootcert=system needs sslmode=verify-full"],
    ["sslnegotiation=direct", "it needs sslmode=require, verify-ca or verify-full"],
    ["sslcert=c.pem", "a client certificate needs both sslcert and sslkey"],
    ["sslcompression=1", "TLS compression is unsafe"],
    ["gssencmode=require", "Sallyport encrypts with TLS only"],
    ["channel_binding=require", "use sslmode=verify-full"],
    ["client_encoding=LATIN1", "only speaks UTF8"],
    ["connect_timeout=soon", "write a number"],
    ["port=70000", "ports are 1–65535"],
    ["host=a,b,c&port=1,2", "it has 3 hosts and 2 ports"],
    ["host=a,b&hostaddr=10.0.0.1", "it has 2 hosts and 1 in hostaddr"],
    ["host=@name", "abstract Unix sockets are not used"],
    ["schema=public", "set SALLYPORT_DATABASE_SCHEMA instead"],
    ["pgbouncer=true", "set SALLYPORT_DATABASE_POOLER=transaction instead"],
    ["ssl=no-verify", "write sslmode instead"],
    ["sslmod=require", "libpq has no parameter of this name: check the spelling"],
    ["constructor=1", "libpq has no parameter of this name"],
  ])("%s", (query, expected) => {
    expect(() => readConnectionUrl(`postgres://u:hidden@/x?${query}`)).toThrow(expected)
  })

  test.each([
    "postgres://u:hidden%@db/x",
    "postgres://u:hid/den@db/x?sslmode=x",
    "postgres://u:hidden#@db/x",
    "postgres://u:hidden@db:port/x",
    "postgres://u:hidden@[::1/x",
    "postgres://u:hidden@db/x?sslmode=%zz",
    "postgres://u:hidden@db/x?password=hidden&sslmode=x",
    "postgres//u:hidden@db/x",
  ])("no message has the password of %s", (url) => {
    let error: unknown
    try {
      readConnectionUrl(url)
    } catch (caught) {
      error = caught
    }
    const { message, help } = error as { message: string; help: string }
    expect(error).toMatchObject({ name: "DatabaseSettingsError" })
    expect(message + help).not.toMatch(/hid|den/)
  })
})
