/**
 * API group of every kind, and prefix of annotations and labels that users set and may rely on: these names are as
 * stable as fields.
 */
export const GROUP = 'culvert.dev'
export const VERSION = 'v1alpha1'
/** Prefix of Culvert's own bookkeeping, which may change in any version. */
export const INTERNAL = `internal.${GROUP}`

/** Keeps a CR until its remote object is gone. Accounts carry it until the last CR that needs them is gone. */
export const FINALIZER = `${GROUP}/remote`

/** `true`: Culvert leaves the CR and its remote object alone. */
export const PAUSED = `${GROUP}/paused`
/** Any new value asks for a live read of the remote object now; answered in `status.lastHandledReconcileAt`. */
export const RECONCILE_REQUESTED_AT = `${GROUP}/reconcile-requested-at`
/**
 * On a kind with tokens, and on a Tunnel: any new value asks for a new token or key now; answered in
 * `status.lastHandledRotateAt`.
 */
export const ROTATE_REQUESTED_AT = `${GROUP}/rotate-requested-at`
/**
 * On an Account: any new value confirms that the key now in the Secret is for the account that Culvert should manage;
 * answered in `status.lastHandledConfirmIdentityAt`.
 */
export const CONFIRM_IDENTITY_REQUESTED_AT = `${GROUP}/confirm-identity-requested-at`

/** With `managementPolicy: Plan`: the hash of the plan in `status.plan` that may be carried out. */
export const APPROVED_PLAN = `${GROUP}/approved-plan`

/** On a Service of Culvert's class: the domain of its ports, instead of an address for each. */
export const SERVICE_DOMAIN = `${GROUP}/domain`
/** On such a Service: names of the IPPolicies that decide who may connect, separated by commas. */
export const SERVICE_IP_POLICIES = `${GROUP}/ip-policies`
/** On such a Service: the account to use, as `name`, `Account/name` or `ClusterAccount/name`. */
export const SERVICE_ACCOUNT = `${GROUP}/account`
/**
 * On such a Service: names of annotations of other load balancers that are not followed, separated by commas. Without
 * it, one that may restrict who connects opens nothing.
 */
export const SERVICE_IGNORE = `${GROUP}/ignore-annotations`

/** On an Edge that a Service owns: why the Service cannot be followed, as `Reason: message`. */
export const SERVICE_PROBLEM = `${INTERNAL}/service-problem`

/** The durable record of a create that is about to be sent: see attempt.ts. */
export const CREATE_ATTEMPT = `${INTERNAL}/create-attempt`
/**
 * Which remote object belongs to this CR, if `rawMetadata` or the name of a bot took the marker's place: see
 * ownership.ts.
 */
export const REMOTE_ID = `${INTERNAL}/id`
/**
 * On a Secret or ConfigMap: `Kind/name` of the CR that outputs into it, which stays readable after its owner reference
 * was removed.
 */
export const OUTPUT_OF = `${INTERNAL}/output-of`
/** On the same object: our keys in it, separated by commas. Others are not changed. */
export const OUTPUT_KEYS = `${INTERNAL}/output-keys`
/**
 * On the same object: the labels, and the annotations, that the CR's spec has set, separated by commas. Others are not
 * changed.
 */
export const OUTPUT_LABELS = `${INTERNAL}/output-labels`
export const OUTPUT_ANNOTATIONS = `${INTERNAL}/output-annotations`
/**
 * On a Deployment of agents: a digest of its Pod template as Culvert wrote it, by which a change of that is noticed.
 */
export const TEMPLATE_DIGEST = `${INTERNAL}/template-digest`
/** On Pods of an agent with a token: the id of its object, so that they are replaced with another token. */
export const TOKEN_VERSION = `${INTERNAL}/token-of`
/** Label by which people find what Culvert created. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by'
/**
 * On a Secret with a token: the nonce of the object's create. `REMOTE_ID` on the same Secret is the object's id.
 */
export const CREATE_NONCE = `${INTERNAL}/create-nonce`
/** On a Secret with a token: a digest of it, by which a modification is noticed. */
export const TOKEN_DIGEST = `${INTERNAL}/token-digest`
/** On a Secret: the create for which it is reserved, as `nonce/number`. */
export const RESERVED_FOR = `${INTERNAL}/reserved-for`
/** Prefix of the names of the Secrets with the last working keys of accounts. */
export const KEPT_KEY_PREFIX = 'culvert-key-'
/** Key in the data of each of these Secrets. */
export const KEPT_KEY_DATA = 'apiKey'
