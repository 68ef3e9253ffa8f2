/** The explanation of a reason for users; docs/reasons.md is generated from these. */
export interface Explanation {
  /** The state while a condition has the reason, or the event that happened. */
  readonly means: string
  /** The remedy. */
  readonly remedy: string
}

const NOTHING = 'Nothing.'
const WAIT = 'Nothing: this resolves itself.'
const FOLLOW = 'Do what the message says'

/**
 * Every `reason` of a condition. Reasons are machine-readable and never change; the message is for humans.
 */
export const conditionReasons = {
  Available: { means: 'The remote object works, or the account can be used.', remedy: NOTHING },
  InSync: { means: 'The remote object matches the spec.', remedy: NOTHING },
  Progressing: { means: 'Work is in progress; nothing is wrong.', remedy: WAIT },
  Deleting: {
    means: 'The resource is being deleted; the message names what it waits for.',
    remedy:
      'Delete or change what still uses it. If the resource should stay, run the command at the end of the message, and apply its manifest again.',
  },
  AwaitingApproval: {
    means:
      'With `managementPolicy: Plan`, Culvert has written its plan to `status.plan` and waits for approval. The object, if there is one, is not changed.',
    remedy: 'Read the plan in `status.plan`, then approve it ([approvals.md](approvals.md)), or change the spec.',
  },
  Paused: {
    means: 'The annotation `culvert.dev/paused` is set: the resource and its object are not touched.',
    remedy: 'Remove the annotation to resume.',
  },
  CreateUnresolved: {
    means: 'The response to a create was lost; Culvert is finding out whether the object exists.',
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
      'The grant of a cross-namespace reference was withdrawn while the reference is in use. The reference is kept until the spec that contains it changes.',
    remedy: 'Have the grant restored, or refer to another resource.',
  },
  Undeclared: {
    means: 'The object has parts that neither its spec nor any permitted resource declares. They are in force.',
    remedy: 'Delete the unwanted parts in the service, or adopt each with its own resource.',
  },
  ReferenceCycle: { means: 'References form a cycle.', remedy: 'Remove one of the references in the message.' },
  SecretMissing: {
    means: 'A Secret, or the key in it, does not exist.',
    remedy: 'Create it, or correct the name in the spec.',
  },
  ConfigMapMissing: {
    means: 'A ConfigMap, or the key in it, does not exist.',
    remedy: 'Create it, or correct the name in the spec.',
  },
  OutputNotOwned: {
    means: 'The Secret or ConfigMap for the outputs has another owner, or is immutable.',
    remedy: 'Choose another one in `spec.output`, or delete it.',
  },
  NotNeeded: { means: 'The resource has no output to write.', remedy: NOTHING },
  CRDNotInstalled: {
    means: 'The type of an object required by the spec is not installed in the cluster.',
    remedy: 'Install it, such as the CRD of ExternalDNS, or remove the field from the spec.',
  },
  DNSEndpointNotAllowed: {
    means: 'The administrator does not allow the DNSEndpoint requested in the spec, so none was created.',
    remedy: 'Create the records at your DNS provider, or have the administrator allow the domain.',
  },
  DNSEndpointKept: {
    means: 'The administrator no longer allows a DNSEndpoint that was created earlier. It is not changed.',
    remedy:
      'Have the administrator allow the domain again, or delete the DNSEndpoint once its records are no longer needed.',
  },
  AnswerRefused: {
    means: 'The API returned an unusable name, token or certificate. It was discarded, and nothing was written.',
    remedy: 'Report it to the provider of the API; the message says what the API returned.',
  },
  TokenAltered: {
    means: 'The token in the Secret was lost or changed, and was reissued too often recently.',
    remedy: 'Find out what changes the Secret, and stop it.',
  },
  AccountNotReady: {
    means: 'The Account does not exist or is not Ready.',
    remedy: 'Start with the Account in the message.',
  },
  AccountNotAllowed: {
    means: "No entry of the ClusterAccount's `access` selects this namespace.",
    remedy: 'Ask the administrator of the ClusterAccount, or choose another account.',
  },
  KindNotAllowed: {
    means: 'The entries that select the namespace allow other kinds.',
    remedy: 'Ask the administrator of the ClusterAccount, or choose another account.',
  },
  DomainNotAllowed: {
    means: "The spec uses a domain that the ClusterAccount's `access` does not allow for the namespace.",
    remedy: 'Use one of the domains in the message, or ask the administrator.',
  },
  LabelNotAllowed: {
    means: "The spec uses tunnel labels that the ClusterAccount's `access` does not allow for the namespace.",
    remedy: 'Use the labels in the message, or ask the administrator.',
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
      'The API refused the request; the message quotes its response. If an edit was refused, the previous state stays in effect; if a deletion was refused, the object is kept, and Culvert retries every 30 seconds.',
    remedy: 'Correct the spec, or add what is missing in the account; Culvert retries every ten minutes.',
  },
  Conflict: {
    means:
      'The API refused because a unique name is taken or the object is in use. The message contains the owner of the name, if known.',
    remedy: 'Free the name, or choose another; Culvert retries every ten minutes.',
  },
  AlreadyExists: {
    means: 'An object exists that this resource may have owned before. It is not adopted unless you request it.',
    remedy: `${FOLLOW}: set \`spec.externalID\`, or delete the object in the service.`,
  },
  TakenOver: {
    means:
      'The object carries the marker of another resource, or of a resource of the same name, as when two clusters share an installation id; or another client keeps reverting the writes of this one.',
    remedy: 'Have one of them release the object ([restore.md](restore.md)).',
  },
  Observed: {
    means: 'The object is only observed; the message lists how it differs from the spec.',
    remedy: 'Nothing, unless you want to adopt it ([adoption.md](adoption.md)).',
  },
  NotAdoptable: {
    means: 'The object in `spec.externalID` cannot be adopted or observed; the message says why.',
    remedy: 'Choose another object, or fix the problem in the message.',
  },
  RemoteMissing: {
    means: 'The remote object no longer exists, and is not recreated, or not yet.',
    remedy: `${FOLLOW}.`,
  },
  ApiError: {
    means: 'A call failed, possibly temporarily; Culvert retries.',
    remedy: 'None at first; Culvert retries. If it persists, check the message and the state of the API.',
  },
  KubernetesError: {
    means: 'A call to Kubernetes was refused or failed.',
    remedy:
      'See the message: the cause may be missing permissions, a webhook or quota that refuses the request, or a failing API server.',
  },
  WriteRefused: {
    means:
      "The admission policy for the operator's writes refused a write. The message names the field, and whether Culvert sent it or a mutating webhook of the cluster added it.",
    remedy:
      'If a webhook added the field, change the webhook, or add the field to `admissionPolicy.operator.extraFields` in the chart. Otherwise update the policy to the release of the operator ([install.md](install.md#the-admission-policy)).',
  },
  OperatorError: {
    means: 'An error inside Culvert.',
    remedy: "Report it, with the stack trace from the operator's log.",
  },
  CertificatePending: { means: 'A certificate is being provisioned.', remedy: WAIT },
  DNSError: {
    means: 'The certificate cannot be issued until DNS records are created.',
    remedy: 'Create the records in `status.dnsRecords`.',
  },
  InternalError: {
    means: 'The service had an internal error while issuing a certificate; it retries automatically.',
    remedy: WAIT,
  },
  CertificateIssued: { means: 'A certificate is in use.', remedy: NOTHING },
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
    remedy: `${FOLLOW}; Culvert retries automatically.`,
  },
  RotationScheduled: { means: 'The next token will be issued at `status.nextRotationAt`.', remedy: NOTHING },
  RotationWaiting: { means: 'A token was requested while the previous one is still in its overlap.', remedy: WAIT },
  CertificateNotManaged: { means: 'No certificate is managed for this resource.', remedy: NOTHING },
  Expired: {
    means: 'A certificate is no longer valid.',
    remedy:
      'Do what the message says. Culvert renews an SSH certificate whose spec sets neither `validAfter` nor `validUntil`.',
  },
  NotYetValid: { means: 'A certificate is not valid yet.', remedy: WAIT },
  TunnelsOnline: { means: 'Tunnels with the labels of the group are online.', remedy: NOTHING },
  NoTunnels: {
    means: 'No tunnel with the labels of the group is online, so no agent receives the traffic.',
    remedy: 'Start an agent that binds these labels, with a credential whose `acl` permits each of them.',
  },
  NoWeight: {
    means: 'No backend of a Weighted Backend has a weight above 0, so none receives the traffic.',
    remedy: 'Set a weight in `spec.weighted.backendRefs`.',
  },
  BackendDisabled: {
    means: 'The edge has no backend, or its backend is disabled, so nothing receives the traffic.',
    remedy: 'Set `spec.backend.name`, and `spec.backend.enabled` to true.',
  },
  NotConnected: {
    means:
      'Not every agent of the Tunnel is connected to the gateway; the message contains the last error if an agent gave up.',
    remedy: 'Do what the message says, or check the log of the agents.',
  },
  Contested: {
    means:
      'Another client keeps scaling the Deployment of the Tunnel. Culvert waits before it reverts this: a minute, doubling each time up to an hour.',
    remedy:
      'Have that client scale the Tunnel instead, for example with `scaleTargetRef` of a HorizontalPodAutoscaler.',
  },
  GatewayNotAllowed: {
    means: 'The administrator does not allow the SSH gateway of the account.',
    remedy: 'Correct it, or have the administrator of Culvert add it to `tunnels.gateways` in the chart.',
  },
  ImageNotAllowed: {
    means: 'The administrator does not allow the agent image of the Tunnel.',
    remedy:
      'Use another image, or have the administrator of Culvert add it to `tunnels.templates.images` in the chart.',
  },
  TemplateNotAllowed: {
    means: 'The administrator does not allow a label, annotation or PriorityClass in `template` of the Tunnel.',
    remedy:
      'Remove it, or have the administrator of Culvert add it to `tunnels.templates.metadataKeys` or `tunnels.templates.priorityClasses` in the chart.',
  },
  TemplatesDisabled: {
    means: '`template` and `agent` of Tunnels are not enabled in the operator.',
    remedy: 'Remove it, or have the administrator of Culvert set `tunnels.templates.enabled` in the chart.',
  },
  TunnelsDisabled: {
    means: 'Tunnels are not enabled in the operator.',
    remedy:
      'Have the administrator of Culvert set `tunnels.enabled` in the chart, or run an agent yourself (docs/traffic.md).',
  },
  Unauthorized: {
    means: 'The API refused the key.',
    remedy: 'Store a valid key in the Secret of the Account.',
  },
  Unreachable: {
    means: 'The API does not respond.',
    remedy: 'Check `spec.baseURL`, proxy, NetworkPolicy and the state of the API.',
  },
  RequestsRefused: {
    means:
      'The API responds but refuses something that is part of every request, such as the version header; the message quotes its response.',
    remedy: 'Check `spec.versionHeader` and `spec.baseURL`.',
  },
  CollectionNotListable: {
    means:
      'The API refuses to list a collection (403, 404, 405, 410 or 501). The resources in it wait, as does everything that depends on its list; the rest of the account is reconciled.',
    remedy:
      'Allow the API key to list the collection in the message, or check that the API has it. To finish a waiting deletion, set `spec.deletionPolicy: Retain`.',
  },
  BaseURLNotAllowed: {
    means: 'The administrator does not allow the host of the base URL.',
    remedy: "Correct it, or add the host to the operator's `--allow-api-host`.",
  },
  IdentityUnproven: {
    means: 'The key may belong to another account: nothing is created or deleted until this is resolved.',
    remedy: 'Restore the right key, or confirm the new account ([alerts.md](alerts.md#culvertidentityunproven)).',
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
    means: 'A command has finished, but not every action is done; see the status.',
    remedy: 'Check `status.targets`, and create another command for the remaining sessions.',
  },
  NoTarget: {
    means: 'The command selects no session.',
    remedy: 'Create another command that selects an existing session: `kubectl get tunnelsessions`.',
  },
  TooManyTargets: {
    means: 'The command selects more sessions than allowed.',
    remedy: 'Create several commands with narrower selectors.',
  },
} as const satisfies Readonly<Record<string, Explanation>>

/** Every `reason` of an Event that no condition has; other Events have the reason of the condition that changed. */
export const eventReasons = {
  Created: { means: 'The object was created.', remedy: NOTHING },
  Updating: { means: 'An edit of the spec is being applied.', remedy: NOTHING },
  Replacing: {
    means: 'A field changed that is immutable in the API: a new object replaces the current one.',
    remedy: NOTHING,
  },
  FormerDeleted: { means: 'The object that was replaced was deleted.', remedy: NOTHING },
  FormerKept: {
    means: 'The object that was replaced is kept, because an Account still uses its key.',
    remedy: 'Switch that Account to the new key.',
  },
  Deleted: { means: 'The object was deleted with its resource.', remedy: NOTHING },
  LeftInPlace: {
    means:
      'The resource was deleted, but the object is kept because it does not, or no longer, belong to the resource.',
    remedy: NOTHING,
  },
  Adopted: { means: 'The object in `spec.externalID` was adopted.', remedy: NOTHING },
  Recovered: { means: 'Culvert found an object that this resource had created earlier.', remedy: NOTHING },
  PossibleDuplicate: {
    means:
      'An object may have belonged to the resource before it lost its status, but nothing proves it: a second object is created.',
    remedy: 'If it did, adopt it or delete it in the service, as the message says.',
  },
  CopyDeleted: { means: 'A duplicate object from one create was deleted.', remedy: NOTHING },
  DriftCorrected: {
    means: 'The object was changed outside Culvert; the change was reverted.',
    remedy: 'If the change was intended, make it in the spec.',
  },
  RemoteDeleted: {
    means: 'The object was deleted outside Culvert; it is being recreated.',
    remedy: 'If this was intended, delete the resource.',
  },
  Reissued: {
    means: 'The token in the Secret was lost or changed; a new one is issued.',
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
