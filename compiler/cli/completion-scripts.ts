import type { Command, CommandRow } from "./command.ts"

/** An option as shells complete it. */
interface Flag {
  readonly name: string
  readonly text: string
  /** Whether a value follows. */
  readonly valued: boolean
  /** The possible values, where the help lists them. */
  readonly choices: readonly string[]
}

/** A command with its options. */
export interface Completable {
  readonly name: string
  readonly summary: string
  readonly flags: readonly Flag[]
}

/** What a shell needs to know of a command. */
export function completable({ name, summary }: CommandRow, { line }: Command): Completable {
  const flags = (line.options ?? []).map(([flag, text]): Flag => {
    const [word = ""] = flag.split(/[ ,]/)
    return { name: word, text, valued: flag.includes("<"), choices: choicesIn(text) }
  })
  return {
    name,
    summary,
    flags: [...flags, { name: "--help", text: "print help", valued: false, choices: [] }],
  }
}

/** `text, json or junit (default: text)` lists all values. */
function choicesIn(text: string): string[] {
  const list = /^((?:[a-z0-9-]+, )*[a-z0-9-]+ or [a-z0-9-]+)(?: \(default: [a-z0-9-]+\))?$/.exec(text)?.[1]
  return list?.split(/, | or /) ?? []
}

/** Commands by their first word; a command without a group is alone under its name. */
function groupsOf(commands: readonly Completable[]): Map<string, Completable[]> {
  const groups = new Map<string, Completable[]>()
  for (const command of commands) {
    const [group = ""] = command.name.split(" ")
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  return groups
}

const isGroup = (members: readonly Completable[]): boolean => members.some(({ name }) => name.includes(" "))
const memberName = ({ name }: Completable): string => name.split(" ")[1] ?? ""
const names = (flags: readonly Flag[]): string => flags.map(({ name }) => name).join(" ")

/** For bash 4 and later. Words that are no options are left to the completion of files. */
export function bashScript(commands: readonly Completable[]): string {
  const groups = groupsOf(commands)
  const cases: string[] = []
  const values: string[] = []
  for (const [group, members] of groups) {
    if (isGroup(members)) {
      const inner = members.map((each) => `${memberName(each)}) options="${names(each.flags)}" ;;`)
      cases.push(
        `    ${group}) case $second in "") words="${members.map(memberName).join(" ")}" ;; ${inner.join(" ")} esac ;;`,
      )
    } else cases.push(`    ${group}) options="${names(members[0]?.flags ?? [])}" ;;`)
    for (const each of members)
      for (const { name, choices } of each.flags)
        if (choices.length > 0)
          values.push(
            `    ${group}/${isGroup(members) ? memberName(each) : "*"}/${name}) words="${choices.join(" ")}" ;;`,
          )
  }
  return `# bash completion of sallyport: source <(sallyport completion bash)
_sallyport() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} first="" second="" words="" options="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] && continue
    if [[ -z $first ]]; then first=\${COMP_WORDS[i]}; elif [[ -z $second ]]; then second=\${COMP_WORDS[i]}; fi
  done
  case $first in
    "") words="${[...groups.keys()].join(" ")} help" ;;
${cases.join("\n")}
  esac
  case $first/$second/$prev in
${values.join("\n")}
  esac
  [[ $cur == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _sallyport sallyport
`
}

/** A text in single quotes for zsh and fish, where a colon would end the word that it describes. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "'\\''")}'`

/** For zsh with compinit. */
export function zshScript(commands: readonly Completable[]): string {
  const described = (items: readonly (readonly [string, string])[]): string =>
    items.map(([name, text]) => quoted(`${name.replaceAll(":", "\\:")}:${text}`)).join(" ")
  const flagsOf = ({ flags }: Completable): string => described(flags.map(({ name, text }) => [name, text]))
  const groups = groupsOf(commands)
  const first = [...groups].map(([group, members]): readonly [string, string] => [
    group,
    isGroup(members) ? `commands: ${members.map(memberName).join(", ")}` : (members[0]?.summary ?? ""),
  ])
  const cases = [...groups].flatMap(([group, members]) => {
    if (!isGroup(members)) return [`    ${group}/*) options=(${flagsOf(members[0] as Completable)}) ;;`]
    return [
      `    ${group}/) commands=(${described(members.map((each) => [memberName(each), each.summary]))}) ;;`,
      ...members.map((each) => `    ${group}/${memberName(each)}) options=(${flagsOf(each)}) ;;`),
    ]
  })
  return `#compdef sallyport
# zsh completion of sallyport: source <(sallyport completion zsh)
_sallyport() {
  local first second word
  local -a commands options
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && continue
    if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi
  done
  case $first/$second in
    /) commands=(${described(first)}) ;;
${cases.join("\n")}
  esac
  if (( \${#commands} )); then _describe command commands
  elif [[ \${words[CURRENT]} == -* ]]; then _describe -o option options
  else _files
  fi
}
compdef _sallyport sallyport
`
}

/** For fish. */
export function fishScript(commands: readonly Completable[]): string {
  const lines = ["# fish completion of sallyport: sallyport completion fish | source"]
  const add = (when: string, rest: string): number =>
    lines.push(`complete -c sallyport -n ${quoted(when)} ${rest}`)
  for (const [group, members] of groupsOf(commands)) {
    const all = members.map(memberName).join(" ")
    const summary = isGroup(members) ? `commands: ${all}` : (members[0]?.summary ?? "")
    add("__fish_use_subcommand", `-f -a ${group} -d ${quoted(summary)}`)
    for (const each of members) {
      const inside = `__fish_seen_subcommand_from ${group}`
      if (isGroup(members))
        add(
          `${inside}; and not __fish_seen_subcommand_from ${all}`,
          `-f -a ${memberName(each)} -d ${quoted(each.summary)}`,
        )
      const when = isGroup(members)
        ? `${inside}; and __fish_seen_subcommand_from ${memberName(each)}`
        : inside
      for (const { name, text, valued, choices } of each.flags) {
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : valued ? " -r" : ""
        add(when, `-l ${name.replace(/^--?/, "")}${value} -d ${quoted(text)}`)
      }
    }
  }
  return `${lines.join("\n")}\n`
}
