import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type {
  IssuedAnswer,
  Subscription,
  SubscriptionsAnswer,
} from "../../../runtime/control/subscription-api.ts"
import type {
  SubscriptionActArgs,
  SubscriptionCreateArgs,
  SubscriptionListArgs,
  SubscriptionNameArgs,
  SubscriptionRotateArgs,
} from "../args/subscription.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { connect, expectOk } from "../remote.ts"
import { issuedText, subscriptionsText, subscriptionText } from "../views/subscription.ts"

export const subscriptionCreate: CommandAction<SubscriptionCreateArgs> = async (args, io) => {
  const { name, scope, owner, note, expiresAt, state } = args
  const keys = await givenKeys(args, io)
  const remote = await connect(io)
  const answer = await remote.request("POST", "/v1/subscriptions", {
    name,
    scope,
    owner,
    note,
    expiresAt,
    state,
    keys,
  })
  return shown(io, args.format, expectOk<IssuedAnswer>(answer), issuedText)
}

export const subscriptionList: CommandAction<SubscriptionListArgs> = async (args, io) => {
  const remote = await connect(io)
  const query = new URLSearchParams(args.query).toString()
  const answer = await remote.request("GET", `/v1/subscriptions${query === "" ? "" : `?${query}`}`)
  return shown(io, args.format, expectOk<SubscriptionsAnswer>(answer), subscriptionsText)
}

export const subscriptionShow: CommandAction<SubscriptionNameArgs> = async (args, io) => {
  const remote = await connect(io)
  const answer = await remote.request("GET", pathOf(args.name))
  return shown(io, args.format, expectOk<Subscription>(answer), subscriptionText)
}

export const subscriptionAct: CommandAction<SubscriptionActArgs> = async (
  { name, action, expiresAt, format },
  io,
) => {
  const remote = await connect(io)
  const body = expiresAt === undefined ? {} : { expiresAt }
  const answer = await remote.request("POST", `${pathOf(name)}/${action}`, body)
  return shown(io, format, expectOk<Subscription>(answer), ({ state }) => `\`${name}\` is ${state}.\n`)
}

export const subscriptionRotate: CommandAction<SubscriptionRotateArgs> = async (
  { name, key, format },
  io,
) => {
  const remote = await connect(io)
  const answer = await remote.request("POST", `${pathOf(name)}/rotate`, { key })
  return shown(io, format, expectOk<IssuedAnswer>(answer), issuedText)
}

export const subscriptionDelete: CommandAction<SubscriptionNameArgs> = async ({ name }, io) => {
  const remote = await connect(io)
  expectOk(await remote.request("DELETE", pathOf(name)))
  io.out(`Deleted \`${name}\`.\n`)
  return exitCode.ok
}

function pathOf(name: string): string {
  return `/v1/subscriptions/${encodeURIComponent(name)}`
}

function shown<Answer>(io: Io, format: "text" | "json", answer: Answer, view: (answer: Answer) => string) {
  io.out(format === "json" ? `${JSON.stringify(answer, null, 2)}\n` : view(answer))
  return exitCode.ok
}

/** From files, because words of a command line are seen by other users of the machine. */
async function givenKeys({ primaryKeyFile, secondaryKeyFile }: SubscriptionCreateArgs, io: Io) {
  if (primaryKeyFile === undefined || secondaryKeyFile === undefined) return undefined
  return { primary: await keyIn(primaryKeyFile, io), secondary: await keyIn(secondaryKeyFile, io) }
}

async function keyIn(file: string, io: Io): Promise<string> {
  try {
    return (await readFile(resolve(io.cwd, file), "utf8")).trim()
  } catch (error) {
    throw new CliError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
