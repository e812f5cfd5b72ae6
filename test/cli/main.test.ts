import { expect, test } from "vitest"
import { CliError, type CommandRow, command, commandPurposes, exitCode } from "../../compiler/cli/command.ts"
import { commands } from "../../compiler/cli/commands.ts"
import type { Io } from "../../compiler/cli/io.ts"
import { main } from "../../compiler/cli/main.ts"

interface GreetArgs {
  readonly names: readonly string[]
  readonly loud: boolean
  readonly last: string | undefined
  readonly listed: string | undefined
}

const greet = command<GreetArgs>(
  {
    operands: [["[names...]", "whom to greet"]],
    options: [
      ["--loud", "in capitals"],
      ["--last <name>", "whom to greet last"],
      ["--listed <names>", "more names", "joined"],
    ],
    examples: [["sallyport greet ann", "greets ann"]],
    parse(operands, options) {
      if (operands.length === 0)
        throw new CliError("nobody to greet", "Name somebody: `sallyport greet ann`.", exitCode.refused)
      const [last, listed] = [options["last"], options["listed"]].map((each) => each?.toString())
      return { names: operands, loud: options["loud"] === true, last, listed }
    },
  },
  async (args, io) => {
    const names = [
      ...args.names,
      ...(args.listed?.split(",") ?? []),
      ...(args.last === undefined ? [] : [args.last]),
    ]
    const text = `hello ${names.join(" and ")}\n`
    io.out(args.loud ? text.toUpperCase() : text)
    return exitCode.changes
  },
)

const inGroup = command<null>({ examples: [], parse: () => null }, async (_, io) => {
  io.out("written\n")
  return exitCode.ok
})

const broken = command<null>({ examples: [], parse: () => null }, async () => {
  throw new TypeError("ours")
})

async function run(...argv: string[]) {
  const seen = { out: "", err: "" }
  const io: Io = {
    out: (text) => {
      seen.out += text
    },
    err: (text) => {
      seen.err += text
    },
    cwd: "/",
    env: {},
    interactive: false,
    typed: false,
    askHidden: async () => "",
    progress: false,
    colour: { out: false, err: false },
    columns: 80,
    page: async (text) => {
      seen.out += text
    },
    ask: async () => "",
    async *bytes() {},
    async *lines() {},
    converse() {
      throw new Error("nobody is there")
    },
    untilStopped: async () => {},
  }
  const table: CommandRow[] = [
    { name: "greet", purpose: "run", summary: "say hello", load: async () => greet },
    { name: "tuple write", purpose: "authorization", summary: "write tuples", load: async () => inGroup },
    { name: "broken", purpose: "run", summary: "throws", load: async () => broken },
    {
      name: "other",
      purpose: "write",
      summary: "is not called",
      load: async () => {
        throw new Error("loaded without being called")
      },
    },
  ]
  return { code: await main(argv, io, table), ...seen }
}

test("of an option that is given twice the last counts, and lists are joined", async () => {
  expect((await run("greet", "ann", "--last", "bob", "--last", "cyd")).out).toBe("hello ann and cyd\n")
  const { out } = await run("greet", "ann", "--listed", "bob,cyd", "--listed", "dan")
  expect(out).toBe("hello ann and bob and cyd and dan\n")
})

test("a command gets its operands and options, and its answer is the exit code", async () => {
  expect(await run("greet", "ann", "bob", "--loud")).toEqual({ code: 2, out: "HELLO ANN AND BOB\n", err: "" })
})

test("a command of a group", async () => {
  expect(await run("tuple", "write")).toEqual({ code: 0, out: "written\n", err: "" })
})

test("an error of the user is told with its remedy and its exit code", async () => {
  const help = "help: Name somebody: `sallyport greet ann`.\n"
  expect(await run("greet")).toEqual({ code: 3, out: "", err: `error: nobody to greet\n${help}` })
})

test("an unknown command, option or operand is an error, with the nearest name", async () => {
  const command = await run("gret")
  expect(command).toMatchObject({ code: 1, out: "" })
  expect(command.err).toContain("unknown command 'gret'")
  expect(command.err).toContain("greet")
  expect((await run("greet", "ann", "--lout")).err).toContain("--loud")
  expect(await run("tuple", "write", "x")).toMatchObject({ code: 1 })
  expect(await run("tuple", "wipe")).toMatchObject({ code: 1 })
})

test("help lists commands and shows examples", async () => {
  for (const words of [[], ["--help"], ["help"]]) {
    const help = await run(...words)
    expect(help).toMatchObject({ code: 0, err: "" })
    expect(help.out).toMatch(/greet .*say hello/)
    expect(help.out).toMatch(/tuple .*commands: write/)
  }
  expect((await run("greet", "--help")).out).toContain("sallyport greet ann\n      greets ann")
})

test("help shows commands below the heading of their purpose, `help` itself below the last", async () => {
  const parts = (await run("--help")).out.split(/^(?=\S.*:$)/m).map((part) => part.trimEnd().split("\n"))
  const below = (heading: string) => parts.find(([first]) => first === heading)?.slice(1) ?? []
  expect(below("Try and run:")).toEqual(["  greet              say hello", "  broken             throws"])
  expect(below("Authorization data:")).toEqual(["  tuple              commands: write"])
  expect(below("Read more:")[0]).toMatch(/^ {2}help \[word\.\.\.\] /)
  expect((await run("tuple", "--help")).out).toContain("\nCommands:\n  write ")
})

test("the rows of a purpose stand together, in the order of the headings; commands of a group have one purpose", () => {
  expect([...new Set(commands.map(({ purpose }) => purpose))]).toEqual(Object.keys(commandPurposes))
  const runs = commands.filter(({ purpose }, at) => purpose !== commands[at - 1]?.purpose)
  expect(runs).toHaveLength(Object.keys(commandPurposes).length)
  const purposeOf = new Map(commands.map(({ name, purpose }) => [name.split(" ")[0], purpose]))
  for (const { name, purpose } of commands) expect(purposeOf.get(name.split(" ")[0]), name).toBe(purpose)
})

test("an error of ours keeps its stack", async () => {
  await expect(run("broken")).rejects.toThrow("ours")
})
