package linear

// The documents that are sent. Linear charges a request for what it could answer at most: a point for an object, a tenth for a field, times the size of each
// list around it, and refuses what is above 10,000. A page has to stay below that, with all that its issues may have.
const (
	pageSize = 60

	// issueFields are what an item is made of, and the beginnings of its lists, which are long enough for nearly all.
	issueFields = `
fragment IssueFields on Issue {
  id identifier title url priority prioritySortOrder updatedAt archivedAt trashed
  state { id name type }
  assignee { id displayName }
  delegate { id displayName }
  projectMilestone { name }
  parent { identifier }
  labels(first: 10) { ...Labels }
  inverseRelations(first: 10) { ...Relations }
  attachments(first: 10) { ...Attachments }
}` + listFields

	listFields = `
fragment Labels on IssueLabelConnection { nodes { name } pageInfo { hasNextPage } }
fragment Relations on IssueRelationConnection { nodes { type issue { identifier trashed state { type } } } pageInfo { hasNextPage } }
fragment Attachments on AttachmentConnection { nodes { url sourceType metadata } pageInfo { hasNextPage } }`

	// pageDocument is a page of the open issues, and on the first one those of the teams that there are.
	pageDocument = `
query Page($teams: [String!]!, $first: Int!, $after: String, $begin: Boolean!) {
  teams(first: 50, filter: { key: { in: $teams } }) @include(if: $begin) { nodes { key } }
  issues(first: $first, after: $after, filter: { team: { key: { in: $teams } }, state: { type: { nin: ["completed", "canceled", "duplicate"] } } }) {
    nodes { ...IssueFields }
    pageInfo { hasNextPage endCursor }
  }
}` + issueFields

	// restDocument has the whole lists of one issue.
	restDocument = `
query Rest($id: String!) {
  issue(id: $id) {
    id
    labels(first: 250) { ...Labels }
    inverseRelations(first: 250) { ...Relations }
    attachments(first: 250) { ...Attachments }
  }
}` + listFields

	// readDocument finds an issue by its number, since Linear answers for a name that an issue had before it moved to another team.
	readDocument = `
query Read($team: String!, $number: Float!) {
  issues(first: 1, includeArchived: true, filter: { team: { key: { eq: $team } }, number: { eq: $number } }) { nodes { ...IssueFields } }
}` + issueFields

	// beginDocument is that with what a change needs to know: who asks, and the states of the team.
	beginDocument = `
query Begin($team: String!, $number: Float!) {
  viewer { id displayName }
  issues(first: 1, includeArchived: true, filter: { team: { key: { eq: $team } }, number: { eq: $number } }) {
    nodes {
      ...IssueFields
      team { states(first: 250) { nodes { id name type position } } }
    }
  }
}` + issueFields

	updateDocument = `
mutation Update($id: String!, $input: IssueUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success issue { ...IssueFields } }
}` + issueFields

	commentedDocument = `
query Commented($id: String!, $comment: ID!) {
  issue(id: $id) { comments(first: 1, filter: { id: { eq: $comment } }) { nodes { id } } }
}`

	commentDocument = `
mutation Comment($input: CommentCreateInput!) {
  commentCreate(input: $input) { success comment { id } }
}`
)
