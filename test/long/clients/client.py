"""OpenFGA's Python client, unchanged, against the API at argv[1]; the model is argv[2]. Prints what came back as one JSON object."""

import json
import sys

from openfga_sdk import ClientConfiguration, FgaObject, ReadRequestTupleKey, UserTypeFilter
from openfga_sdk.client.models import (
    ClientAssertion,
    ClientBatchCheckItem,
    ClientBatchCheckRequest,
    ClientCheckRequest,
    ClientExpandRequest,
    ClientListObjectsRequest,
    ClientListRelationsRequest,
    ClientReadChangesRequest,
    ClientTuple,
    ClientWriteRequest,
)
from openfga_sdk.exceptions import ApiException, NotFoundException, ValidationException
from openfga_sdk.models.create_store_request import CreateStoreRequest
from openfga_sdk.models.list_users_request import ListUsersRequest
from openfga_sdk.sync import OpenFgaClient

url, model = sys.argv[1], json.loads(sys.argv[2])
ann = {"user": "user:ann", "relation": "owner", "object": "document:1"}
bob = {**ann, "user": "user:bob"}
told = {}

with OpenFgaClient(ClientConfiguration(api_url=url)) as client:
    store = client.create_store(CreateStoreRequest(name="python"))
    client.set_store_id(store.id)
    model_id = client.write_authorization_model(model).authorization_model_id
    client.set_authorization_model_id(model_id)
    told["latest"] = client.read_latest_authorization_model().authorization_model.id == model_id
    told["models"] = len(client.read_authorization_models().authorization_models)
    told["store"] = client.get_store().name

    client.write(ClientWriteRequest(writes=[ClientTuple(**ann)]))
    client.write_tuples([ClientTuple(user="user:*", relation="viewer", object="folder:f")])
    told["allowed"] = client.check(ClientCheckRequest(**{**ann, "relation": "viewer"})).allowed
    told["denied"] = client.check(ClientCheckRequest(**bob)).allowed
    told["contextual"] = client.check(ClientCheckRequest(**bob, contextual_tuples=[ClientTuple(**bob)])).allowed
    batch = client.batch_check(
        ClientBatchCheckRequest(
            checks=[ClientBatchCheckItem(**ann, correlation_id="1"), ClientBatchCheckItem(**bob, correlation_id="2")]
        )
    )
    told["batch"] = {each.correlation_id: each.allowed for each in batch.result}
    question = ClientListObjectsRequest(user="user:ann", relation="viewer", type="document")
    told["objects"] = client.list_objects(question).objects
    told["streamed"] = [each.object for each in client.streamed_list_objects(question)]
    relations = ClientListRelationsRequest(user="user:ann", relations=["owner", "viewer", "parent"], object="document:1")
    told["relations"] = sorted(client.list_relations(relations))
    users = client.list_users(
        ListUsersRequest(
            object=FgaObject(type="document", id="1"), relation="viewer", user_filters=[UserTypeFilter(type="user")]
        )
    )
    told["users"] = [each.object.id for each in users.users]
    tree = client.expand(ClientExpandRequest(relation="viewer", object="document:1")).tree
    told["expanded"] = len(tree.root.union.nodes)
    told["read"] = [each.key.user for each in client.read(ReadRequestTupleKey(object="document:1")).tuples]
    changes = client.read_changes(ClientReadChangesRequest(type="document"))
    told["changes"] = [each.operation for each in changes.changes]
    client.write_assertions([ClientAssertion(**ann, expectation=True)])
    told["assertions"] = [each.expectation for each in client.read_assertions().assertions]

    try:
        client.check(ClientCheckRequest(**{**ann, "relation": "reader"}))
    except ValidationException as error:
        told["refused"] = f"{error.status} {error.code}"
    try:
        client.write_tuples([ClientTuple(**ann)])
    except ApiException as error:
        told["conflict"] = f"{error.status} {error.code}"
    client.delete_tuples([ClientTuple(**ann)])
    told["deleted"] = client.check(ClientCheckRequest(**ann)).allowed
    client.delete_store()
    try:
        client.get_store()
    except NotFoundException as error:
        told["gone"] = f"{error.status} {error.code}"

print(json.dumps(told))
