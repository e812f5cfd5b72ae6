import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useMemo } from "preact/hooks"
import { CallFailure } from "../../client.ts"
import { askEngine, type RelationsByType } from "../../engine.ts"
import { counted } from "../../format.ts"
import { FoundNames } from "../../names.ts"
import { Empty, Failed, Loading } from "../../parts/basic.tsx"
import { WindowList } from "../../parts/window-list.tsx"

/** The engine's default maximum. */
const pageSize = 1_000
const excludedShown = 20
const attemptsMax = 3

/** What the engine is asked for a list. */
export interface ListQuestion<Page> {
  readonly store: string
  /** `list-users` or `list-objects`. */
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The names of a page, and users whom a wildcard in it does not cover. */
  readonly namesOf: (page: Page) => {
    readonly names: readonly string[]
    readonly excluded?: readonly string[]
  }
}

/**
 * A list of names in order, read as far as it is scrolled. A search reads the rest. All pages are of one revision of the store. Use it with a
 * key: it belongs to one question.
 */
export function NameList<Page extends { readonly continuation_token?: string }>(props: {
  readonly question: ListQuestion<Page>
  readonly label: string
  /** What one name is: `user`, `object`. */
  readonly noun: string
  readonly none: string
  readonly row: (name: string) => ComponentChildren
}) {
  const { question, label, noun, none, row } = props
  const list = useNames(question)
  const { names } = list
  // Read for its changes.
  void names.version.value
  const isBusy = list.isBusy.value
  const isWhole = list.isWhole.value
  const error = list.error.value
  return (
    <section class="panel" aria-label={label}>
      <div class="list-head">
        <label class="list-search">
          <span class="hidden">Search in this list</span>
          <input
            type="search"
            placeholder="Search in this list"
            onInput={({ currentTarget: { value } }) => {
              names.search(value)
              if (value !== "") list.readAll()
            }}
          />
        </label>
        <p class="quiet" role="status">
          {countText(names, noun, isWhole)}
        </p>
        {!isWhole && names.all > 0 && (
          <button type="button" onClick={list.readsAll.value ? list.stop : list.readAll}>
            {list.readsAll.value ? "Stop" : "Load all"}
          </button>
        )}
      </div>
      {error !== undefined && <Failed error={error} retry={list.read} />}
      {names.all > 0 ? (
        <WindowList
          label={label}
          columns={[{ title: noun === "user" ? "User" : "Object" }]}
          count={names.count}
          more={!isWhole}
          onEnd={list.read}
          cells={(index) => [row(names.at(index) ?? "")]}
        />
      ) : isWhole ? (
        <Empty title={none} />
      ) : (
        isBusy && <Loading />
      )}
      <Excluded users={list.excluded.value} />
    </section>
  )
}

function countText(names: FoundNames, noun: string, isWhole: boolean): string {
  const all = `${counted(names.all, noun)}${isWhole || names.all === 0 ? "" : " loaded, there are more"}`
  if (names.count === names.all && names.isSearched) return all
  return `${names.count.toLocaleString("en")} of ${all}${names.isSearched ? "" : ", searching …"}`
}

function Excluded({ users }: { readonly users: readonly string[] }) {
  if (users.length === 0) return null
  return (
    <p class="list-end">
      Everybody of the type, without{" "}
      {users.slice(0, excludedShown).map((user, at) => (
        <span key={user}>
          {at > 0 && ", "}
          <code>{user}</code>
        </span>
      ))}
      {users.length > excludedShown && ` and ${(users.length - excludedShown).toLocaleString("en")} more`}
    </p>
  )
}

/** A page that was late on a busy process is asked for again: the engine keeps what it has found. */
async function patiently(read: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await read()
    } catch (error) {
      const isLate = error instanceof CallFailure && (error.status === 503 || error.status === 504)
      if (!isLate || attempt === attemptsMax) throw error
    }
}

/** Reads the pages of a list. */
function useNames<Page extends { readonly continuation_token?: string }>(question: ListQuestion<Page>) {
  const { store, path, body, namesOf } = question
  const names = useMemo(() => new FoundNames(), [])
  const excluded = useSignal<readonly string[]>([])
  const isBusy = useSignal(false)
  const isWhole = useSignal(false)
  const readsAll = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const place = useMemo(() => ({ token: "", isGone: false }), [])
  const readPage = async () => {
    const { token } = place
    const asked = { ...body, page_size: pageSize, ...(token && { continuation_token: token }) }
    const page = await askEngine<Page>(store, path, asked)
    const found = namesOf(page)
    place.token = page.continuation_token ?? ""
    names.add(found.names)
    if (found.excluded?.length) excluded.value = [...excluded.peek(), ...found.excluded]
    isWhole.value = place.token === ""
  }
  const read = async () => {
    if (isBusy.peek() || isWhole.peek() || place.isGone) return
    isBusy.value = true
    error.value = undefined
    try {
      do await patiently(readPage)
      while (readsAll.peek() && !isWhole.peek() && !place.isGone)
    } catch (reason) {
      error.value = reason
    }
    readsAll.value = false
    isBusy.value = false
  }
  useEffect(() => {
    void read()
    return () => {
      place.isGone = true
    }
  }, [])
  return {
    ...{ names, excluded, isBusy, isWhole, readsAll, error },
    read: () => void read(),
    readAll: () => {
      readsAll.value = !isWhole.peek()
      void read()
    },
    stop: () => {
      readsAll.value = false
    },
  }
}

/** A user of a list: an object, everybody of a type, or a set. */
export interface ListedUser {
  readonly object?: { readonly type: string; readonly id: string }
  readonly wildcard?: { readonly type: string }
  readonly userset?: { readonly type: string; readonly id: string; readonly relation: string }
}

/** The name of a listed user as tuples have it. */
export function userName({ object, wildcard, userset }: ListedUser): string {
  if (wildcard !== undefined) return `${wildcard.type}:*`
  if (userset !== undefined) return `${userset.type}:${userset.id}#${userset.relation}`
  return object === undefined ? "" : `${object.type}:${object.id}`
}

/** What can be listed: the types that tuples name directly as users, `user` first, then their sets. */
export function userKinds(types: RelationsByType): readonly string[] {
  const direct = [...types.values()].flatMap((relations) => [...relations.values()].flat())
  const plain = new Set(direct.filter(({ relation }) => relation === undefined).map(({ type }) => type))
  const sets = new Set(
    direct.flatMap(({ type, relation }) => (relation === undefined ? [] : `${type}#${relation}`)),
  )
  const isUser = (type: string) => Number(type !== "user")
  return [...[...plain].sort((one, other) => isUser(one) - isUser(other)), ...sets]
}
