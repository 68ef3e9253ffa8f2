/** The explanation of a reason for users; docs/reasons.md is generated from these. */
export interface Explanation {
  /** The state while a condition has the reason, or the event that happened. */
  readonly means: string
  /** The remedy. */
  readonly remedy: string
}

const NOTHING = 'Nothing.'
const WAIT = 'Nothing: it resolves by itself.'
const FOLLOW = 'Do what the message says'

/**
 * Every `reason` of a condition. Reasons are for programs and never change; the message beside a reason is for people.
 */
export const conditionReasons = {
  Available: { means: 'The remote object works, or the account can be used.', remedy: NOTHING },
  InSync: { means: 'The remote object equals the spec.', remedy: NOTHING },
  Progressing: { means: 'Work is in progress; nothing is wrong.', remedy: WAIT },
  Deleting: {
    means: 'The resource is being deleted; the message names what it waits for.',
    remedy:
      'Delete or change what still uses it. If the resource should stay, run the command at the end of the message, and apply its manifest again.',
  },
  AwaitingApproval: {
    means:
      'With `managementPolicy: Plan`, Culvert has written what it would do to `status.plan` and waits. The object, if there is one, stays as it is.',
    remedy: 'Read the plan in `status.plan`, then approve it ([approvals.md](approvals.md)), or change the spec.',
  },
  Paused: {
    means: 'The annotation `culvert.dev/paused` is set: the resource and its object are not touched.',
    remedy: 'Remove the annotation to resume.',
  },
  CreateUnresolved: {
    means: 'The answer to a create was lost; Culvert is finding out whether the object exists.',
    remedy: WAIT,
  },
  ReferenceNotReady: {
    means: 'A referenced resource does not exist or is not usable yet; the message names it.',
    remedy: 'Start with that resource: create it, correct the name, or check its conditions.',
  },
  ReferenceRefused: {
    means: 'A referenced resource does not accept this reference; the message says why.',
    remedy: 'Change one of the two resources, as the message says.',
  },
  ReferenceNotPermitted: {
    means:
      'The spec refers to something that the namespace may not use: a resource that does not grant the reference, the object of a resource in another namespace by its id, or an unmanaged object in an account that does not allow it.',
    remedy:
      'Refer by name, have the owner add your namespace to `spec.allowedReferences`, or ask the administrator of the account; the message names the field and the value.',
  },
  GrantWithdrawn: {
    means:
      'The grant of a reference between namespaces was withdrawn while the reference is in use: it is kept until the spec that contains it changes.',
    remedy: 'Have the grant restored, or refer to another resource.',
  },
  Undeclared: {
    means: 'The object has parts that neither its spec nor any permitted resource declares. They are in force.',
    remedy: 'Delete the unwanted parts at the API, or adopt each with a resource of its own.',
  },
  ReferenceCycle: { means: 'References form a cycle.', remedy: 'Remove one of the references that the message names.' },
  SecretMissing: {
    means: 'A Secret, or the key in it, does not exist.',
    remedy: 'Create it, or correct the name in the spec.',
  },
  ConfigMapMissing: {
    means: 'A ConfigMap, or the key in it, does not exist.',
    remedy: 'Create it, or correct the name in the spec.',
  },
  OutputNotOwned: {
    means: 'The Secret or ConfigMap for the outputs belongs to somebody else, or is immutable.',
    remedy: 'Name another one in `spec.output`, or delete it.',
  },
  NotNeeded: { means: 'The resource has nothing to write there.', remedy: NOTHING },
  CRDNotInstalled: {
    means: 'The type of an object that the spec asks for is not installed in the cluster.',
    remedy: 'Install it, such as the CRD of ExternalDNS, or remove the field from the spec.',
  },
  DNSEndpointNotAllowed: {
    means: 'The administrator does not allow the DNSEndpoint that the spec asks for, so none was created.',
    remedy: 'Create the records at your DNS provider, or have the administrator allow the domain.',
  },
  DNSEndpointKept: {
    means: 'The administrator no longer allows a DNSEndpoint that was created before: it stays unchanged.',
    remedy: 'Have the administrator allow the domain again, or delete the DNSEndpoint once nobody needs its records.',
  },
  AnswerRefused: {
    means: 'The API returned an unusable name, token or certificate. It was discarded, and nothing was written.',
    remedy: 'Report it to the provider of the API; the message says what the API returned.',
  },
  TokenAltered: {
    means: 'The token in the Secret is lost or altered, and was reissued too often recently.',
    remedy: 'Find out what changes the Secret, and stop it.',
  },
  AccountNotReady: {
    means: 'The Account does not exist or is not Ready.',
    remedy: 'Start with the Account that the message names.',
  },
  AccountNotAllowed: {
    means: "No entry of the ClusterAccount's `access` selects this namespace.",
    remedy: 'Ask the administrator of the ClusterAccount, or name another account.',
  },
  KindNotAllowed: {
    means: 'The entries that select the namespace allow other kinds.',
    remedy: 'Ask the administrator of the ClusterAccount, or name another account.',
  },
  DomainNotAllowed: {
    means: "The spec takes a domain that the ClusterAccount's `access` does not allow the namespace.",
    remedy: 'Use one of the domains that the message names, or ask the administrator.',
  },
  LabelNotAllowed: {
    means: "The spec takes tunnel labels that the ClusterAccount's `access` does not allow the namespace.",
    remedy: 'Use the labels that the message names, or ask the administrator.',
  },
  InvalidSpec: {
    means: 'A value in the spec is invalid; the message names the field.',
    remedy: 'Correct the spec.',
  },
  InvalidInput: {
    means: 'A value from a Secret or ConfigMap is invalid; the message names the field.',
    remedy: 'Correct the Secret or ConfigMap.',
  },
  Rejected: {
    means:
      'The API refused the request; the message quotes its answer. If an edit was refused, the previous state stays in effect; if a deletion was, the object stays, and it is tried again every 30 seconds.',
    remedy: 'Correct the spec, or add what is missing in the account; Culvert tries again every ten minutes.',
  },
  Conflict: {
    means:
      'The API refused because a unique name is taken or the object is in use. The message says who has the name, if that is known.',
    remedy: 'Free the name, or choose another; Culvert tries again every ten minutes.',
  },
  AlreadyExists: {
    means: 'The API has an object that this resource may have owned before. It is not adopted unless you ask for it.',
    remedy: `${FOLLOW}: name it by \`spec.externalID\`, or delete it at the API.`,
  },
  TakenOver: {
    means:
      'The object carries the marker of another resource, or of a resource of the same name, as when two clusters share an installation id; or another client keeps undoing the writes of this one.',
    remedy: 'Let one of the two release the object ([restore.md](restore.md)).',
  },
  Observed: {
    means: 'The object is only observed; the message says how it differs from the spec.',
    remedy: 'Nothing, unless you want to adopt it ([adoption.md](adoption.md)).',
  },
  NotAdoptable: {
    means: 'The object that `spec.externalID` names cannot be adopted or observed; the message says why.',
    remedy: 'Name another object, or fix what the message names.',
  },
  RemoteMissing: {
    means: 'The object no longer exists at the API, and is not created again, or not yet.',
    remedy: `${FOLLOW}.`,
  },
  ApiError: {
    means: 'A call failed, perhaps temporarily; it is retried.',
    remedy: 'Nothing at first. If it persists, check the message and the state of the API.',
  },
  KubernetesError: {
    means: 'A call to Kubernetes was refused or failed.',
    remedy:
      'See the message: the cause may be missing rights, a webhook or quota that refuses, or a failing API server.',
  },
  WriteRefused: {
    means:
      "The admission policy for the operator's writes refused one. The message names the field, and whether Culvert sent it or a mutating webhook of the cluster added it.",
    remedy:
      'If a webhook added the field, change the webhook, or add the field to `admissionPolicy.operator.extraFields` of the chart. Otherwise update the policy to the release of the operator ([install.md](install.md#the-admission-policy)).',
  },
  OperatorError: {
    means: 'An error inside Culvert.',
    remedy: "Report it, with the stack trace from the operator's log.",
  },
  CertificatePending: { means: 'A certificate is being provisioned.', remedy: WAIT },
  DNSError: {
    means: 'A certificate cannot be issued until DNS records are created.',
    remedy: 'Create the records that `status.dnsRecords` lists.',
  },
  InternalError: {
    means: 'The service had an internal error while issuing a certificate; it retries by itself.',
    remedy: WAIT,
  },
  CertificateIssued: { means: 'A certificate is in place.', remedy: NOTHING },
  RenewalFailing: {
    means: 'The certificate in use still works, but its successor cannot be issued.',
    remedy: `${FOLLOW}, before the certificate expires.`,
  },
  RenewalScheduled: {
    means: 'The next certificate will be issued before the one in use expires.',
    remedy: NOTHING,
  },
  RotationFailing: {
    means: 'The token in use still works, but its successor cannot be issued.',
    remedy: `${FOLLOW}; the next attempt follows by itself.`,
  },
  RotationScheduled: { means: 'The next token will be issued at `status.nextRotationAt`.', remedy: NOTHING },
  RotationWaiting: { means: 'A token was requested while the previous one is still within its overlap.', remedy: WAIT },
  CertificateNotManaged: { means: 'No certificate is managed for this resource.', remedy: NOTHING },
  Expired: {
    means: 'A certificate is no longer valid.',
    remedy:
      'Do what the message says. Culvert renews an SSH certificate whose spec sets neither `validAfter` nor `validUntil`.',
  },
  NotYetValid: { means: 'A certificate is not valid yet.', remedy: WAIT },
  TunnelsOnline: { means: 'Tunnels with the labels of the group are online.', remedy: NOTHING },
  NoTunnels: {
    means: 'No tunnel with the labels of the group is online, so nothing receives the traffic.',
    remedy: 'Start an agent that binds these labels, with a credential whose `acl` permits each of them.',
  },
  NotConnected: {
    means: 'Not every agent of the Tunnel is connected to the gateway; the message has the last error, if one gave up.',
    remedy: 'Do what the message says, or see the log of the agents.',
  },
  Contested: {
    means:
      'Another client scales the Deployment of the Tunnel again and again. Its number of agents is left for a minute, then for twice as long each time, up to an hour.',
    remedy: 'Have it scale the Tunnel instead, such as by `scaleTargetRef` of a HorizontalPodAutoscaler.',
  },
  GatewayNotAllowed: {
    means: 'The administrator does not allow the SSH gateway of the account.',
    remedy: 'Correct it, or have the administrator of Culvert add it to `tunnels.gateways` of the chart.',
  },
  ImageNotAllowed: {
    means: 'The administrator does not allow an image that the Tunnel names.',
    remedy: 'Name another, or have the administrator of Culvert add it to `tunnels.templates.images` of the chart.',
  },
  TemplateNotAllowed: {
    means: 'The administrator does not allow a label, annotation or PriorityClass in `template` of the Tunnel.',
    remedy:
      'Remove it, or have the administrator of Culvert add it to `tunnels.templates.metadataKeys` or `tunnels.templates.priorityClasses` of the chart.',
  },
  TemplatesDisabled: {
    means: 'The operator takes no `template` or `agent` of Tunnels.',
    remedy: 'Remove it, or have the administrator of Culvert set `tunnels.templates.enabled` of the chart.',
  },
  TunnelsDisabled: {
    means: 'The operator runs no agents.',
    remedy:
      'Have the administrator of Culvert set `tunnels.enabled` of the chart, or run an agent yourself (docs/traffic.md).',
  },
  Unauthorized: {
    means: 'The API refused the key.',
    remedy: 'Put a valid key into the Secret that the Account names.',
  },
  Unreachable: {
    means: 'The API does not answer.',
    remedy: 'Check `spec.baseURL`, proxy, NetworkPolicy and the state of the API.',
  },
  RequestsRefused: {
    means: 'The API answers, and refuses what every request has, such as the version header; the message quotes it.',
    remedy: 'Check `spec.versionHeader` and `spec.baseURL`.',
  },
  CollectionNotListable: {
    means:
      'The API refuses to list a collection (403, 404, 405, 410 or 501). The resources in it wait, and so does everything that only its list can decide; the rest of the account goes on.',
    remedy:
      'Let the API key list the collection that the message names, or check that the API has it. To end a deletion that waits, set `spec.deletionPolicy: Retain`.',
  },
  BaseURLNotAllowed: {
    means: 'The administrator does not allow the host of the base URL.',
    remedy: "Correct it, or add the host to the operator's `--allow-api-host`.",
  },
  IdentityUnproven: {
    means: 'The key may belong to another account: nothing is created or deleted until this is resolved.',
    remedy: 'Put the right key back, or confirm the new account ([alerts.md](alerts.md#culvertidentityunproven)).',
  },
  TooManySessions: {
    means: 'More sessions are online than the account shows.',
    remedy: 'Raise `spec.mirrorSessions.maxSessions`.',
  },
  TooManyMirrors: {
    means: 'The namespace already shows the sessions of the maximum number of other accounts.',
    remedy: 'Disable `mirrorSessions` in one of them.',
  },
  CommandRunning: { means: 'A command is in progress.', remedy: WAIT },
  AllDone: { means: 'Every action of a command is done.', remedy: NOTHING },
  SomeNotDone: {
    means: 'A command is over, and not every action is done: the status says which.',
    remedy: 'See `status.targets`, and create another command for the remaining sessions.',
  },
  NoTarget: {
    means: 'A command selects no session.',
    remedy: 'Create another that selects an existing session: `kubectl get tunnelsessions`.',
  },
  TooManyTargets: {
    means: 'A command selects more sessions than allowed.',
    remedy: 'Create several commands with narrower selectors.',
  },
} as const satisfies Readonly<Record<string, Explanation>>

/** Every `reason` of an Event that no condition has; other Events have the reason of the condition that changed. */
export const eventReasons = {
  Created: { means: 'The object was created.', remedy: NOTHING },
  Updating: { means: 'An edit is being carried out.', remedy: NOTHING },
  Replacing: {
    means: 'A field changed that the API does not allow to change: a new object replaces the current one.',
    remedy: NOTHING,
  },
  FormerDeleted: { means: 'The object that was replaced was deleted.', remedy: NOTHING },
  FormerKept: {
    means: 'The object that was replaced stays, because an Account still uses its key.',
    remedy: 'Give that Account the new key.',
  },
  Deleted: { means: 'The object was deleted with its resource.', remedy: NOTHING },
  LeftInPlace: {
    means:
      'The resource was deleted, and the object stays because it does not belong to the resource, or no longer does.',
    remedy: NOTHING,
  },
  Adopted: { means: 'The object that `spec.externalID` names was adopted.', remedy: NOTHING },
  Recovered: { means: 'Culvert found an object that this resource had created before.', remedy: NOTHING },
  PossibleDuplicate: {
    means:
      'An object may have belonged to the resource before it lost its status, but nothing proves it: another one is created.',
    remedy: 'If it did, adopt it or delete it at the API, as the message says.',
  },
  CopyDeleted: { means: 'A second object of one create was deleted.', remedy: NOTHING },
  DriftCorrected: {
    means: 'Somebody changed the object at the API; the change was reverted.',
    remedy: 'If the change was meant, make it in the spec.',
  },
  RemoteDeleted: {
    means: 'Somebody deleted the object at the API; it is created again.',
    remedy: 'If it was meant, delete the resource.',
  },
  Reissued: {
    means: 'The token in the Secret was lost or altered; a new one is issued.',
    remedy: 'Find out what changed the Secret.',
  },
  Rotating: { means: 'A new token replaces the current one.', remedy: NOTHING },
  Renewing: { means: 'A new certificate replaces the current one.', remedy: NOTHING },
} as const satisfies Readonly<Record<string, Explanation>>

export type Reason = keyof typeof conditionReasons

/** The reasons of conditions by name. */
export const reasons = namesOf(conditionReasons)

function namesOf<Name extends string>(
  explained: Readonly<Record<Name, Explanation>>,
): { readonly [Each in Name]: Each } {
  return Object.fromEntries(Object.keys(explained).map((name) => [name, name])) as { readonly [Each in Name]: Each }
}
