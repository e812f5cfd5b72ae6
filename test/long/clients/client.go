// OpenFGA's Go client, unchanged, against the API at os.Args[1]; the model is os.Args[2]. Prints what came back as one JSON object.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"

	fga "github.com/openfga/go-sdk"
	. "github.com/openfga/go-sdk/client"
)

func need(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	told := map[string]any{}
	client, err := NewSdkClient(&ClientConfiguration{ApiUrl: os.Args[1]})
	need(err)
	store, err := client.CreateStore(ctx).Body(ClientCreateStoreRequest{Name: "golang"}).Execute()
	need(err)
	need(client.SetStoreId(store.Id))
	var model ClientWriteAuthorizationModelRequest
	need(json.Unmarshal([]byte(os.Args[2]), &model))
	written, err := client.WriteAuthorizationModel(ctx).Body(model).Execute()
	need(err)
	need(client.SetAuthorizationModelId(written.AuthorizationModelId))
	latest, err := client.ReadLatestAuthorizationModel(ctx).Execute()
	need(err)
	told["latest"] = latest.AuthorizationModel.Id == written.AuthorizationModelId
	models, err := client.ReadAuthorizationModels(ctx).Execute()
	need(err)
	told["models"] = len(models.AuthorizationModels)
	found, err := client.GetStore(ctx).Execute()
	need(err)
	told["store"] = found.Name

	ann := ClientTupleKey{User: "user:ann", Relation: "owner", Object: "document:1"}
	bob := ClientTupleKey{User: "user:bob", Relation: "owner", Object: "document:1"}
	_, err = client.Write(ctx).Body(ClientWriteRequest{Writes: []ClientTupleKey{ann}}).Execute()
	need(err)
	everybody := ClientTupleKey{User: "user:*", Relation: "viewer", Object: "folder:f"}
	_, err = client.WriteTuples(ctx).Body([]ClientTupleKey{everybody}).Execute()
	need(err)
	check := func(user string, relation string, contextual ...ClientContextualTupleKey) bool {
		request := ClientCheckRequest{User: user, Relation: relation, Object: "document:1", ContextualTuples: contextual}
		answer, err := client.Check(ctx).Body(request).Execute()
		need(err)
		return answer.GetAllowed()
	}
	told["allowed"] = check("user:ann", "viewer")
	told["denied"] = check("user:bob", "owner")
	told["contextual"] = check("user:bob", "owner", bob)
	batch, err := client.BatchCheck(ctx).Body(ClientBatchCheckBody{
		{User: "user:ann", Relation: "owner", Object: "document:1"},
		{User: "user:bob", Relation: "owner", Object: "document:1"},
	}).Execute()
	need(err)
	results := map[string]bool{}
	for _, each := range *batch {
		need(each.Error)
		results[map[string]string{"user:ann": "1", "user:bob": "2"}[each.Request.User]] = each.GetAllowed()
	}
	told["batch"] = results
	objects, err := client.ListObjects(ctx).Body(ClientListObjectsRequest{User: "user:ann", Relation: "viewer", Type: "document"}).Execute()
	need(err)
	told["objects"] = objects.Objects
	relations, err := client.ListRelations(ctx).Body(ClientListRelationsRequest{
		User: "user:ann", Object: "document:1", Relations: []string{"owner", "viewer", "parent"},
	}).Execute()
	need(err)
	sort.Strings(relations.Relations)
	told["relations"] = relations.Relations
	users, err := client.ListUsers(ctx).Body(ClientListUsersRequest{
		Object: fga.FgaObject{Type: "document", Id: "1"}, Relation: "viewer", UserFilters: []fga.UserTypeFilter{{Type: "user"}},
	}).Execute()
	need(err)
	ids := []string{}
	for _, each := range users.Users {
		ids = append(ids, each.Object.Id)
	}
	told["users"] = ids
	expanded, err := client.Expand(ctx).Body(ClientExpandRequest{Relation: "viewer", Object: "document:1"}).Execute()
	need(err)
	told["expanded"] = len(expanded.Tree.Root.Union.Nodes)
	document := "document:1"
	read, err := client.Read(ctx).Body(ClientReadRequest{Object: &document}).Execute()
	need(err)
	readers := []string{}
	for _, each := range read.Tuples {
		readers = append(readers, each.Key.User)
	}
	told["read"] = readers
	changes, err := client.ReadChanges(ctx).Body(ClientReadChangesRequest{Type: "document"}).Execute()
	need(err)
	operations := []string{}
	for _, each := range changes.Changes {
		operations = append(operations, string(each.Operation))
	}
	told["changes"] = operations
	_, err = client.WriteAssertions(ctx).Body(ClientWriteAssertionsRequest{
		{User: "user:ann", Relation: "owner", Object: "document:1", Expectation: true},
	}).Execute()
	need(err)
	assertions, err := client.ReadAssertions(ctx).Execute()
	need(err)
	expectations := []bool{}
	for _, each := range assertions.GetAssertions() {
		expectations = append(expectations, each.Expectation)
	}
	told["assertions"] = expectations

	_, err = client.Check(ctx).Body(ClientCheckRequest{User: "user:ann", Relation: "reader", Object: "document:1"}).Execute()
	var invalid fga.FgaApiValidationError
	if errors.As(err, &invalid) {
		told["refused"] = fmt.Sprintf("%d %s", invalid.ResponseStatusCode(), invalid.ResponseCode())
	}
	_, err = client.WriteTuples(ctx).Body([]ClientTupleKey{ann}).Execute()
	if errors.As(err, &invalid) {
		told["conflict"] = fmt.Sprintf("%d %s", invalid.ResponseStatusCode(), invalid.ResponseCode())
	}
	_, err = client.DeleteTuples(ctx).Body([]ClientTupleKeyWithoutCondition{{User: ann.User, Relation: ann.Relation, Object: ann.Object}}).Execute()
	need(err)
	told["deleted"] = check("user:ann", "owner")
	_, err = client.DeleteStore(ctx).Execute()
	need(err)
	_, err = client.GetStore(ctx).Execute()
	var missing fga.FgaApiNotFoundError
	if errors.As(err, &missing) {
		told["gone"] = fmt.Sprintf("%d %s", missing.ResponseStatusCode(), missing.ResponseCode())
	}
	need(json.NewEncoder(os.Stdout).Encode(told))
}
