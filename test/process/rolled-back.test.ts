import { Client } from "pg"
import { afterEach, expect, test } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, keyOf, type Ports, planOfEngine, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Reading `sallyport.stores` fails with `code` as often as the sequence allows. */
const trap = (code: string) => `
  create sequence public.tries;
  create table public.trap (times bigint);
  insert into public.trap values (0);
  create function public.pass() returns boolean volatile language plpgsql as $$
    begin
      -- A load reads in a transaction that may not take a number.
      if current_setting('transaction_read_only') = 'on' then return true; end if;
      if (select times from public.trap) >= nextval('public.tries') then raise exception using errcode = '${code}'; end if;
      return true;
    end $$;
  alter table sallyport.stores rename to stores_below;
  create view sallyport.stores as select * from sallyport.stores_below where public.pass();`

async function trapped(code: string) {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const client = new Client({ connectionString: url })
  await client.connect()
  stops.push(() => client.end())
  await client.query(trap(code))
  const ports = await freePorts()
  const runtime = await start(url, ports)
  stops.push(() => runtime.close())
  const plan = planOfEngine(ports, "", "authzen { store acme }")
  await runtime.apply(plan, author)
  const fail = async (times: number) => {
    await client.query("update public.trap set times = $1", [times])
    await client.query("alter sequence public.tries restart")
  }
  return { ports, plan, fail }
}

const tuple = { user: "user:ann", relation: "viewer", object: "order:1" }

async function ask(url: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  })
  return [response.status, response.headers.get("retry-after"), await response.text()] as const
}

/** Every HTTP surface with a question that needs the table. */
const surfaces: Readonly<Record<string, (ports: Ports) => ReturnType<typeof ask>>> = {
  "write of the engine": ({ authz }) =>
    ask(`http://127.0.0.1:${authz}/stores/acme/write`, {
      writes: { tuple_keys: [tuple], on_duplicate: "ignore" },
    }),
  "check of the engine": ({ authz }) =>
    ask(`http://127.0.0.1:${authz}/stores/acme/check`, {
      tuple_key: tuple,
      consistency: "HIGHER_CONSISTENCY",
    }),
  "stream of the engine": ({ authz }) =>
    ask(`http://127.0.0.1:${authz}/stores/acme/streamed-list-objects`, {
      ...{ user: tuple.user, relation: "viewer", type: "order", consistency: "HIGHER_CONSISTENCY" },
    }),
  AuthZEN: ({ authz }) =>
    ask(`http://127.0.0.1:${authz}/access/v1/evaluation`, {
      subject: { type: "user", id: "ann" },
      action: { name: "viewer" },
      resource: { type: "order", id: "1" },
    }),
  gateway: ({ gateway }) =>
    ask(`http://127.0.0.1:${gateway}/order/1`, undefined, { "x-api-key": keyOf("ann") }),
}

for (const code of ["40001", "40P01"])
  describePostgres(`a database that answers ${code}`, () => {
    test("once: every surface answers as if nothing had been", async () => {
      const { ports, plan, fail } = await trapped(code)
      for (const [name, surface] of Object.entries(surfaces)) {
        await fail(1)
        expect(await surface(ports), name).toEqual([200, null, expect.any(String)])
      }
      await fail(1)
      expect((await control(ports, "PUT", "/v1/plan", { plan, base: 1, author })).status).toBe(200)
      const metrics = (await control(ports, "GET", "/metrics")).body["text"]
      expect(metrics).toMatch(new RegExp(`sallyport_database_repeats_total{sqlstate="${code}"} [1-9]`))
    })

    test("on and on: 503 with Retry-After on every surface, and good again afterwards", async () => {
      const { ports, fail } = await trapped(code)
      for (const surface of Object.values(surfaces))
        expect(await surface(ports)).toEqual([200, null, expect.any(String)])
      await fail(1_000_000)
      // What is in memory is good for a second (`max-staleness 1s`).
      for (const [name, surface] of Object.entries(surfaces))
        await expect
          .poll(async () => (await surface(ports)).slice(0, 2), { message: name })
          .toEqual([503, "1"])
      const next = planOfEngine(ports, "", 'authzen { store acme }\ncors { origins "https://app.example" }')
      const put = await control(ports, "PUT", "/v1/plan", { plan: next, base: 1, author })
      expect([put.status, put.headers.get("retry-after")]).toEqual([503, "1"])
      await fail(0)
      for (const [name, surface] of Object.entries(surfaces))
        await expect.poll(async () => (await surface(ports))[0], { message: name }).toBe(200)
    })
  })
