/** The explanation of a reason for users; docs/reasons.md is generated from these. */
export interface Explanation {
  /** The state while a condition has the reason, or the event that happened. */
  readonly means: string
  /** The remedy. */
  readonly remedy: string
}

const NOTHING = 'Nothing.'
const WAIT = 'Nothing: it passes by itself.'
const FOLLOW = 'Do what the message says'

/**
 * Every `reason` of a condition. Reasons are for programs and never change; the message beside a reason is for people.
 */
export const conditionReasons = {
  Available: { means: 'The remote object equals the spec and works.', remedy: NOTHING },
  InSync: { means: 'The remote object equals the spec.', remedy: NOTHING },
  Progressing: { means: 'Work is under way; nothing is wrong.', remedy: WAIT },
  Deleting: {
    means: 'The resource is being deleted; the message names what it waits for.',
    remedy: 'Delete or change what still uses it, if it is to go.',
  },
  Paused: {
    means: 'The annotation `culvert.dev/paused` is set: the resource and its object are left alone.',
    remedy: 'Remove the annotation to go on.',
  },
  CreateUnresolved: {
    means: 'A create was sent and its answer got lost; Culvert is finding out whether the object exists.',
    remedy: WAIT,
  },
  ReferenceNotReady: {
    means: 'A referenced resource does not exist or is not usable yet; the message names it.',
    remedy: 'Begin with that resource: create it, correct the name, or see its own conditions.',
  },
  ReferenceRefused: {
    means: 'A referenced resource does not take what refers to it; the message says why.',
    remedy: 'Change one of the two, as the message says.',
  },
  ReferenceNotPermitted: {
    means:
      'The spec uses an object or a resource that the namespace may not use: by the id of what a resource of another namespace has, or of what nobody has in an account that does not allow it.',
    remedy:
      'Refer by name, have the owner name your namespace in `spec.allowedReferences`, or ask the administrator of the account; the message names field and value.',
  },
  GrantWithdrawn: {
    means:
      'A reference between namespaces is in use whose grant was withdrawn: it is kept until the spec with it changes.',
    remedy: 'Have the grant restored, or refer to something else.',
  },
  Undeclared: {
    means: 'The object has parts that neither its spec declares nor a resource that may: they are in force.',
    remedy: 'Delete at the API what does not belong there, or adopt it with a resource of its own.',
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
    means: 'The Secret or ConfigMap that outputs should go into belongs to somebody else.',
    remedy: 'Name another in `spec.output`, or delete that one.',
  },
  NotNeeded: { means: 'There is nothing that would have to be put there.', remedy: NOTHING },
  CRDNotInstalled: {
    means: 'The type of an object that the spec asks for is not installed in the cluster.',
    remedy: 'Install it, such as the CRD of ExternalDNS, or take the field out of the spec.',
  },
  DNSEndpointNotAllowed: {
    means: 'The administrator does not allow the DNSEndpoint that the spec asks for, and none was made.',
    remedy: 'Make the records at your DNS provider, or have the operator allow the domain.',
  },
  DNSEndpointKept: {
    means: 'The administrator does not allow a DNSEndpoint that was made before: it stays as it is.',
    remedy: 'Have the operator allow the domain again, or delete the DNSEndpoint once nobody needs its records.',
  },
  AnswerRefused: {
    means:
      'What the API answered must not go where it would: a name, a token or a certificate that is none. Nothing of it was written.',
    remedy: 'Report it to whoever runs the API; the message says what it answered.',
  },
  TokenAltered: {
    means: 'The token in the Secret is lost or altered, and was issued anew too often lately.',
    remedy: 'Find out what changes the Secret, and stop it.',
  },
  AccountNotReady: {
    means: 'The Account does not exist or is not Ready.',
    remedy: 'Begin with the Account that the message names.',
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
    means: "The spec takes a domain that the ClusterAccount's `access` does not give the namespace.",
    remedy: 'Take one of the domains that the message names, or ask the administrator.',
  },
  LabelNotAllowed: {
    means: "The spec takes labels of tunnels that the ClusterAccount's `access` does not give the namespace.",
    remedy: 'Use the labels that the message names, or ask the administrator.',
  },
  InvalidSpec: {
    means: 'A value in the spec cannot work; the message names the field.',
    remedy: 'Correct the spec.',
  },
  InvalidInput: {
    means: 'A value from a Secret or ConfigMap cannot work; the message names the field.',
    remedy: 'Correct the Secret or ConfigMap.',
  },
  Rejected: {
    means:
      "The API refused the request for good, in the message's own words. What was there before an edit goes on working.",
    remedy: 'Correct the spec, or what is missing in the account; it is tried again every ten minutes.',
  },
  Conflict: {
    means:
      'The API refused because a unique name is taken or the object is in use. The message says who has the name, where that is known.',
    remedy: 'Take the name away from who has it, or choose another; it is tried again every ten minutes.',
  },
  AlreadyExists: {
    means: 'The API holds an object that this resource may have owned before; it is not taken without being asked for.',
    remedy: `${FOLLOW}: name it by \`spec.externalID\`, or delete it at the API.`,
  },
  TakenOver: {
    means:
      'The object bears the mark of another life of this resource, as when two clusters work with one installation id, or of another resource; or somebody else changes it back each time it is put right.',
    remedy: 'Let one of the two release the object ([restore.md](restore.md)).',
  },
  Observed: {
    means: 'The object is only looked at; the message says in what it differs from the spec.',
    remedy: 'Nothing, unless it should be adopted ([adoption.md](adoption.md)).',
  },
  NotAdoptable: {
    means: 'The object that `spec.externalID` names cannot be taken; the message says why.',
    remedy: 'Name another object, or correct what the message names.',
  },
  RemoteMissing: {
    means:
      'The object is not at the API any more: one that was adopted or is observed, or that is to be made again later.',
    remedy: `${FOLLOW}.`,
  },
  ApiError: {
    means: 'A call failed in a way that may pass; it is tried again.',
    remedy: 'Nothing at first. If it lasts, see the message and the state of the API.',
  },
  KubernetesError: {
    means: 'Kubernetes refused or failed a call.',
    remedy: 'See the message: missing rights, a webhook or quota that refuses, or an API server in trouble.',
  },
  OperatorError: {
    means: 'An error inside Culvert.',
    remedy: "Report it, with the stack trace from the operator's log.",
  },
  CertificatePending: { means: 'A certificate is being provisioned.', remedy: WAIT },
  DNSError: {
    means: 'A certificate cannot be issued until DNS records are made.',
    remedy: 'Make the records that `status.dnsRecords` lists.',
  },
  InternalError: { means: 'The service had an internal error while issuing; it tries again by itself.', remedy: WAIT },
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
    remedy: `${FOLLOW}; the next try comes by itself.`,
  },
  RotationScheduled: { means: 'The next token will be issued when its time has come.', remedy: NOTHING },
  RotationWaiting: { means: 'A token was asked for while a former one is still within its overlap.', remedy: WAIT },
  CertificateNotManaged: { means: 'No certificate is managed for this resource.', remedy: NOTHING },
  Expired: {
    means: 'A certificate is no longer valid.',
    remedy: 'Take `validUntil` out of the spec or set a later one; without it, see why it was not renewed.',
  },
  NotYetValid: { means: 'The validity of a certificate begins later.', remedy: WAIT },
  TunnelsOnline: { means: 'Tunnels with the labels of the group are online.', remedy: NOTHING },
  NoTunnels: {
    means: 'No tunnel with the labels of the group is online: there is nobody to send traffic to.',
    remedy: 'Start an agent that binds these labels, with a credential whose `acl` permits each of them.',
  },
  Unauthorized: {
    means: 'The API refused the key.',
    remedy: 'Put a valid key into the Secret that the Account names.',
  },
  Unreachable: {
    means: 'The API does not answer.',
    remedy: 'Check `spec.baseURL`, proxy, NetworkPolicy and the state of the API.',
  },
  BaseURLNotAllowed: {
    means: 'The base URL is not one that the administrator allows.',
    remedy: "Correct it, or add the host to the operator's `--allow-api-host`.",
  },
  IdentityUnproven: {
    means: 'The key may belong to another account: nothing is created or deleted until that is settled.',
    remedy: 'Put the right key back, or confirm the new account ([alerts.md](alerts.md#culvertidentityunproven)).',
  },
  TooManySessions: {
    means: 'More sessions are online than the account shows.',
    remedy: 'Raise `spec.mirrorSessions.maxSessions`.',
  },
  TooManyMirrors: {
    means: 'As many other accounts as may be show their sessions in the namespace.',
    remedy: 'Disable `mirrorSessions` in one of them.',
  },
  CommandRunning: { means: 'A command is under way.', remedy: WAIT },
  AllDone: { means: 'Everything that a command was to do is done.', remedy: NOTHING },
  SomeNotDone: {
    means: 'A command is over, and something of it is not done: the status says what.',
    remedy: 'See `status.targets`, and create another command for what is left.',
  },
  NoTarget: {
    means: 'A command means nobody.',
    remedy: 'Create another that names a session there is: `kubectl get tunnelsessions`.',
  },
  TooManyTargets: {
    means: 'A command means more than it can be sent to.',
    remedy: 'Create several with narrower selectors.',
  },
} as const satisfies Readonly<Record<string, Explanation>>

/** Every `reason` of an Event that no condition has; other Events have the reason of the condition that changed. */
export const eventReasons = {
  Created: { means: 'The object was created.', remedy: NOTHING },
  Updating: { means: 'An edit is being carried out.', remedy: NOTHING },
  Replacing: {
    means: 'A field has changed that the API fixes at create: a new object takes the place of the present one.',
    remedy: NOTHING,
  },
  FormerDeleted: { means: 'The object that was replaced is deleted.', remedy: NOTHING },
  FormerKept: {
    means: 'The object that was replaced stays, since an Account still works with its key.',
    remedy: 'Give that Account the new key.',
  },
  Deleted: { means: 'The object was deleted with its resource.', remedy: NOTHING },
  LeftInPlace: {
    means: 'The resource is deleted and the object stays, since it is not, or not any more, that of the resource.',
    remedy: NOTHING,
  },
  Adopted: { means: 'The object that `spec.externalID` names was adopted.', remedy: NOTHING },
  Recovered: { means: 'An object was found that this resource had created before.', remedy: NOTHING },
  PossibleDuplicate: {
    means: 'An object looks like one of a former life of the resource, and nothing proves it: another one is made.',
    remedy: 'If it is, adopt it or delete it at the API, as the message says.',
  },
  CopyDeleted: { means: 'A second object of one create was deleted.', remedy: NOTHING },
  DriftCorrected: {
    means: 'Somebody changed the object at the API; it was put back.',
    remedy: 'If the change was meant, make it in the spec.',
  },
  RemoteDeleted: {
    means: 'Somebody deleted the object at the API; it is made again.',
    remedy: 'If it was meant, delete the resource.',
  },
  Reissued: {
    means: 'The token in the Secret was lost or altered; a new one is issued.',
    remedy: 'Find out what changed the Secret.',
  },
  Rotating: { means: 'A new token takes the place of the present one.', remedy: NOTHING },
  Renewing: { means: 'A new certificate takes the place of the present one.', remedy: NOTHING },
} as const satisfies Readonly<Record<string, Explanation>>

export type Reason = keyof typeof conditionReasons

/** The reasons of conditions by name. */
export const reasons = namesOf(conditionReasons)

function namesOf<Name extends string>(
  explained: Readonly<Record<Name, Explanation>>,
): { readonly [Each in Name]: Each } {
  return Object.fromEntries(Object.keys(explained).map((name) => [name, name])) as { readonly [Each in Name]: Each }
}
