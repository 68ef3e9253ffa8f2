import type { KubeObject } from '../../kube/types.ts'
import type { AccountResource } from '../../managed/account-resource.ts'
import { type LabelSelector, selects } from '../../managed/descriptor/label-selector.ts'

/** Which accounts an operator works on. */
export interface Selectors {
  /** For labels of Accounts and ClusterAccounts. Absent: all. */
  readonly accounts?: LabelSelector | undefined
  /** For labels of the namespaces of Accounts. Absent: all. */
  readonly namespaces?: LabelSelector | undefined
}

/** Decides by labels which accounts are this operator's. */
export class Selection {
  readonly #selectors: Selectors
  readonly #namespace: (name: string) => KubeObject | undefined

  constructor(selectors: Selectors, namespace: (name: string) => KubeObject | undefined) {
    this.#selectors = selectors
    this.#namespace = namespace
  }

  /** Whether there is a selector at all: otherwise, every account is selected. */
  get isPartial(): boolean {
    return this.#selectors.accounts !== undefined || this.#selectors.namespaces !== undefined
  }

  /** Whether the selectors name the account. That of namespaces does not apply to a ClusterAccount. */
  selects({ metadata: { labels = {}, namespace } }: AccountResource): boolean {
    const { accounts } = this.#selectors
    if (accounts !== undefined && !selects(accounts, labels)) return false
    return namespace === undefined || this.selectsNamespace(namespace)
  }

  /** A namespace that the watch has not shown yet is not selected: its labels are unknown. */
  selectsNamespace(name: string): boolean {
    const { namespaces } = this.#selectors
    if (namespaces === undefined) return true
    const namespace = this.#namespace(name)
    return namespace !== undefined && selects(namespaces, namespace.metadata.labels ?? {})
  }
}
