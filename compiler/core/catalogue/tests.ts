import { area } from "./entry.ts"

/** SP6xxx: tests of models (`*.fga.yaml`, OpenFGA's store files) and the files they name. */
export const tests = area({
  SP6001: {
    severity: "error",
    title: "YAML syntax",
    help: "Indent by blanks, close every bracket, and quote texts that hold `: ` or ` #`.",
    why: "The file is no YAML 1.2 from the marked place on. Nothing in it is run: a test that was read by half would be believed whole.",
  },
  SP6002: {
    severity: "error",
    title: "Wrong kind of value",
    help: "Write a value of the kind that belongs there.",
    why: "A store file holds a map: `tests`, `check`, `list_objects`, `list_users`, `tuples` and `user_filter` are lists, `assertions` and `context` are maps, an asserted relation of `check` is `true` or `false`.",
  },
  SP6003: {
    severity: "error",
    title: "Unknown key",
    help: "Correct the key, or remove it.",
    why: "A key nobody reads is a test nobody runs. OpenFGA's command line refuses unknown keys too.",
  },
  SP6004: {
    severity: "error",
    title: "Key missing",
    help: "Add the key.",
    why: "A store file has `model` or `model_file`; a check has `user` or `users`, `object` or `objects`, and `assertions`; `list_objects` has `user`, `type` and `assertions`; `list_users` has `object`, `user_filter` and `assertions`; a tuple has `user`, `relation` and `object`.",
  },
  SP6005: {
    severity: "error",
    title: "Keys exclude each other",
    help: "Keep one of them.",
    why: "A check is about one `user` or about several `users`, about one `object` or several `objects`.",
  },
  SP6006: {
    severity: "warning",
    title: "Model file not read",
    help: "Remove `model_file`, or `model`.",
    why: "Where a store file has both, `model` counts, as in OpenFGA's command line: the file named beside it is not what is tested.",
  },
  SP6007: {
    severity: "error",
    title: "Tuple not allowed by the model",
    help: "Correct the tuple, or allow it in the model.",
    why: "A server would refuse to write this tuple, so a test with it would test what can't be. The rules are those of the `write` endpoint.",
  },
  SP6008: {
    severity: "error",
    title: "Tuple given twice",
    help: "Remove one of them.",
    why: "A store holds one tuple of a user, a relation and an object. Two with different conditions can't both be there; which one counts would depend on their order. The very same tuple may be repeated.",
  },
  SP6009: {
    severity: "error",
    title: "Question does not fit the model",
    help: "Correct the name, or add it to the model.",
    why: "A question about a type or relation the model does not have, or about something that is no user or object, has no answer but an error.",
  },
  SP6010: {
    severity: "error",
    title: "Model test fails",
    help: "Correct the model or the test. `sallyport test FILE` shows why the answer is what it is.",
    why: "`tests` of a store in gateway.conf are run whenever the project is compiled, and a plan is made only when all of them pass.",
  },
  SP6011: {
    severity: "error",
    title: "Tuple file not understood",
    help: "A tuple file is a list of tuples in YAML or JSON, one JSON object a line (.jsonl), or CSV with the columns user_type, user_id, user_relation, relation, object_type, object_id, condition_name and condition_context.",
    why: "The ending of its name says how a tuple file is read: .yaml, .yml, .json, .jsonl or .csv. A file without any tuple is taken for a mistake, as in OpenFGA's command line.",
  },
  SP6012: {
    severity: "warning",
    title: "Nothing is tested",
    help: "Add a check, or remove the entry.",
    why: "A store without tests, a test without questions and a question without assertions pass whatever the model says.",
  },
  SP6013: {
    severity: "error",
    title: "Test file too large",
    help: "Split the entry or the file, and remove repeated references (`*name`).",
    why: "References may repeat 50,000 values in a file, and one entry may ask 100,000 questions: a few lines of references to references, or of users and objects, could otherwise keep a compiler busy for ever.",
  },
  SP6014: {
    severity: "error",
    title: "Tests of another model",
    help: "Name the store's model in `model_file`, or name the tests at the store whose model they test.",
    why: "Tests that pass for another model say nothing about the store that names them.",
  },
})
