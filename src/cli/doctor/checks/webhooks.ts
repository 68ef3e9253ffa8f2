import { namespaceType } from '../../../kube/core-types.ts'
import type { KubeObject, ResourceType } from '../../../kube/types.ts'
import { type LabelSelector, selects } from '../../../managed/descriptor/label-selector.ts'
import { GROUP } from '../../../managed/names.ts'
import type { Finding } from '../finding.ts'
import { type Patient, unlessForbidden } from '../patient.ts'

function configurationType(kind: string): ResourceType {
  const plural = `${kind.toLowerCase()}s`
  return { group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false }
}

const CONFIGURATIONS = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map(configurationType)

const services: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }

interface Webhook {
  readonly name: string
  readonly failurePolicy?: string
  /** Absent: all. */
  readonly namespaceSelector?: LabelSelector
  readonly clientConfig?: { readonly service?: { readonly namespace: string; readonly name: string } }
  readonly rules?: readonly { readonly apiGroups?: readonly string[] }[]
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly Webhook[]
}

/** Webhooks that every write of our resources has to pass, and that no one answers. */
export async function checkWebhooks({ cluster: { kube }, namespaces }: Patient): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const places = await labelsOf(kube, namespaces, findings)
  for (const type of CONFIGURATIONS) {
    const configurations = await unlessForbidden('webhooks', `${type.kind}s`, findings, () => {
      return kube.listAll<Configuration>(type, [])
    })
    for (const { metadata, webhooks = [] } of configurations ?? []) {
      for (const { name, clientConfig } of webhooks.filter((webhook) => isInTheWay(webhook, places))) {
        const service = clientConfig?.service
        if (service === undefined) continue
        const found = await unlessForbidden('webhooks', `${type.kind}/${metadata.name}`, findings, () => {
          return kube.get(services, service)
        })
        if (found !== undefined || findings.some(({ object }) => object === `${type.kind}/${metadata.name}`)) continue
        findings.push({
          severity: 'error',
          check: 'webhooks',
          object: `${type.kind}/${metadata.name}`,
          cause: `${name} is called for every write of a resource of ${GROUP}, but its Service ${service.namespace}/${service.name} does not exist`,
          remedy: 'Restore the Service, or delete the configuration if the webhook is no longer in use.',
          command: `kubectl describe ${type.plural}.${type.group}/${metadata.name}`,
        })
      }
    }
  }
  return findings
}

type Labels = Readonly<Record<string, string>>

/** Labels of each namespace that is looked at; undefined: all namespaces, or one that may not be read. */
async function labelsOf(
  kube: Patient['cluster']['kube'],
  namespaces: readonly string[],
  findings: Finding[],
): Promise<readonly Labels[] | undefined> {
  if (namespaces.length === 0) return undefined
  const found = await unlessForbidden('webhooks', `Namespace/${namespaces.join()}`, findings, () => {
    return Promise.all(namespaces.map((name) => kube.get<KubeObject>(namespaceType, { name })))
  })
  return found?.map((namespace) => namespace?.metadata.labels ?? {})
}

/** Whether the API server refuses writes of our resources in these places while the webhook does not answer. */
function isInTheWay(
  { failurePolicy = 'Fail', namespaceSelector = {}, rules = [] }: Webhook,
  places: readonly Labels[] | undefined,
): boolean {
  const isHere = places === undefined || places.some((labels) => selects(namespaceSelector, labels))
  return (
    isHere &&
    failurePolicy === 'Fail' &&
    rules.some(({ apiGroups = [] }) => apiGroups.includes(GROUP) || apiGroups.includes('*'))
  )
}
