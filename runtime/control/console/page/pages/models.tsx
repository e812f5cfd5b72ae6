import { type EngineStore, readStores } from "../engine.ts"
import { agoText, momentText } from "../format.ts"
import { useAsked } from "../loaded.ts"
import { madeAt } from "../model-api.ts"
import { Empty, Failed, Loading, PageHead, Table } from "../parts/basic.tsx"
import { addressOf, place } from "../router.ts"
import ModelPage from "./model.tsx"

/** The stores of the engine, or the model of one of them. */
export default function Models() {
  const store = place.value.segments[1]
  return store === undefined ? <Stores /> : <ModelPage key={store} store={store} />
}

function Stores() {
  const { answer, error, reload } = useAsked("stores", readStores)
  const stores = answer.value
  return (
    <>
      <PageHead title="Model" about="The models of stores: types, relations, and how users get them" />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {stores === undefined ? (
        error.value === undefined && <Loading />
      ) : stores.length === 0 ? (
        <Empty title="The engine has no stores">
          <code>authz</code> in gateway.conf declares them, and OpenFGA's API creates them.
        </Empty>
      ) : (
        <List stores={stores} />
      )}
    </>
  )
}

function List({ stores }: { readonly stores: readonly EngineStore[] }) {
  return (
    <div class="panel">
      <Table label="Stores" columns={["Store", "Created", "Id"]} class="list">
        {stores.map(({ id, name }) => (
          <tr key={id}>
            <td>
              <a href={addressOf(["model", id])}>{name}</a>
            </td>
            <td>
              <Made id={id} />
            </td>
            <td>
              <code>{id}</code>
            </td>
          </tr>
        ))}
      </Table>
    </div>
  )
}

function Made({ id }: { readonly id: string }) {
  const at = madeAt(id)
  return at === undefined ? <span class="quiet">–</span> : <span title={momentText(at)}>{agoText(at)}</span>
}
