import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"

const direct = (...types: { type: string; relation?: string }[]) => ({ directly_related_user_types: types })
const from = (tupleset: string, relation: string) => ({
  tupleToUserset: { tupleset: { relation: tupleset }, computedUserset: { relation } },
})

/** Documents in folders in folders, shared with users and with groups in groups. */
export const model = loadModel(
  lowerModel({
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      {
        type: "group",
        relations: { member: { this: {} } },
        metadata: { relations: { member: direct({ type: "user" }, { type: "group", relation: "member" }) } },
      },
      {
        type: "folder",
        relations: {
          parent: { this: {} },
          viewer: { union: { child: [{ this: {} }, from("parent", "viewer")] } },
        },
        metadata: {
          relations: {
            parent: direct({ type: "folder" }),
            viewer: direct({ type: "user" }, { type: "group", relation: "member" }),
          },
        },
      },
      {
        type: "doc",
        relations: {
          parent: { this: {} },
          owner: { this: {} },
          viewer: {
            union: {
              child: [{ this: {} }, { computedUserset: { relation: "owner" } }, from("parent", "viewer")],
            },
          },
        },
        metadata: {
          relations: {
            parent: direct({ type: "folder" }),
            owner: direct({ type: "user" }),
            viewer: direct({ type: "user" }, { type: "group", relation: "member" }),
          },
        },
      },
    ],
  }),
)
