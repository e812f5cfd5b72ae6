import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { may } from "../client.ts"
import { type EngineStore, readStores, readTypes } from "../engine.ts"
import { useAsked } from "../loaded.ts"
import { Empty, Failed, Loading, PageHead } from "../parts/basic.tsx"
import { addressOf, go, place } from "../router.ts"
import type { AccessView } from "./access/view.ts"

interface View {
  readonly name: string
  readonly title: string
  /** What an operator must be allowed to do so that the view is offered. Its address works for everybody. */
  readonly needs?: string
  load(): Promise<{ readonly default: ComponentType<AccessView> }>
}

/** The views, each loaded when it is opened. */
const views: readonly View[] = [
  { name: "check", title: "Check", load: () => import("./access/check.tsx") },
  { name: "who", title: "Who can", load: () => import("./access/who.tsx") },
  { name: "what", title: "What may", load: () => import("./access/what.tsx") },
  { name: "matrix", title: "Matrix", load: () => import("./access/matrix.tsx") },
  { name: "tuples", title: "Tuples", load: () => import("./access/tuples.tsx") },
  { name: "changes", title: "Changes", load: () => import("./access/changes.tsx") },
  { name: "edit", title: "Edit", needs: "engine.write", load: () => import("./access/edit.tsx") },
  { name: "import", title: "Import", needs: "engine.write", load: () => import("./access/import.tsx") },
]

/** Who may do what: questions to the engine, and the tuples that decide them. */
export default function Access() {
  const { query, segments } = place.value
  const stores = useAsked("stores", readStores)
  const found = stores.answer.value
  const given = query.get("store")
  const store = given === null ? found?.[0] : found?.find(({ id, name }) => id === given || name === given)
  const offered = views.filter(({ needs }) => needs === undefined || may("operator", needs))
  const view = views.find(({ name }) => name === (segments[1] ?? "check"))
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a phone the row of views is wider than the screen.
    const chosen = tabs.current?.querySelector("[aria-current]")
    chosen?.scrollIntoView({ block: "nearest", inline: "center" })
  }, [view])
  return (
    <>
      <PageHead
        title="Access"
        about="Who may do what, and why: the engine's answers and its tuples"
        actions={found && found.length > 0 && <Stores stores={found} chosen={store} />}
      />
      <nav class="tabs" aria-label="Views of Access" ref={tabs}>
        {offered.map(({ name, title }) => (
          <a
            key={name}
            href={addressOf(["access", name], { store: given ?? undefined })}
            aria-current={name === view?.name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {stores.error.value !== undefined && <Failed error={stores.error.value} retry={stores.reload} />}
      {found === undefined && stores.error.value === undefined && <Loading />}
      {found?.length === 0 && (
        <Empty title="There are no stores">
          A <code>store</code> in <code>authz</code> of gateway.conf declares one.
        </Empty>
      )}
      {found !== undefined && found.length > 0 && store === undefined && (
        <Empty title="There is no such store">
          The address names <code>{given}</code>. Choose one above.
        </Empty>
      )}
      {store !== undefined &&
        (view === undefined ? (
          <Empty title="There is no such view">Choose one above.</Empty>
        ) : (
          <OfStore key={`${store.id} ${view.name}`} store={store} view={view} />
        ))}
    </>
  )
}

/** The store that all views are about. Names need not be unique: the address then has the id. */
function Stores(props: {
  readonly stores: readonly EngineStore[]
  readonly chosen: EngineStore | undefined
}) {
  const { stores, chosen } = props
  const isUnique = (name: string) => stores.filter((each) => each.name === name).length === 1
  return (
    <label class="store-choice">
      <span class="quiet">Store</span>
      <select
        value={chosen?.id ?? ""}
        onChange={({ currentTarget: { value } }) => {
          const next = stores.find(({ id }) => id === value)
          if (next === undefined) return
          const store = isUnique(next.name) ? next.name : next.id
          go(addressOf(["access", place.peek().segments[1] ?? "check"], { store }))
        }}
      >
        {chosen === undefined && <option value="">–</option>}
        {stores.map(({ id, name }) => (
          <option key={id} value={id}>
            {isUnique(name) ? name : `${name} (${id})`}
          </option>
        ))}
      </select>
    </label>
  )
}

function OfStore({ store, view }: { readonly store: EngineStore; readonly view: View }) {
  const content = useSignal<ComponentType<AccessView> | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const types = useAsked(store.id, () => readTypes(store.id))
  useEffect(() => {
    view.load().then(
      (module) => {
        content.value = module.default
      },
      (error: unknown) => {
        failure.value = error
      },
    )
  }, [])
  const Content = content.value
  const error = failure.value ?? types.error.value
  if (error !== undefined) return <Failed error={error} retry={types.reload} />
  const known = types.answer.value
  if (Content === undefined || known === undefined) return <Loading />
  if (known.size === 0)
    return <Empty title="The store has no model">Without a model the engine answers no question.</Empty>
  return <Content store={store} types={known} />
}
