/**
 * Tells the use of a name from its declaration, by the syntax around it.
 *
 * Lint plugins get no scope analysis, so a local variable called `fetch` looks
 * like the global one: reach such a thing through its object (`options.fetch(…)`).
 */

/** Expressions of TypeScript that hold a value; all its other nodes are types or declarations. */
const VALUE_NODES: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSEnumMember",
  "TSExportAssignment",
  "TSInstantiationExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** Parents below which a name is always declared, renamed or a label. */
const NAMING_NODES: ReadonlySet<string> = new Set([
  "ArrayPattern",
  "BreakStatement",
  "CatchClause",
  "ContinueStatement",
  "FunctionDeclaration",
  "FunctionExpression",
  "ImportDefaultSpecifier",
  "ImportNamespaceSpecifier",
  "ImportSpecifier",
  "LabeledStatement",
  "MetaProperty",
  "RestElement",
]);

/** Whether `node` reads a variable, and is no declaration, property name, label or type. */
export function isReference(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  if (NAMING_NODES.has(parent.type)) return false;
  if (parent.type.startsWith("TS")) return VALUE_NODES.has(parent.type);
  switch (parent.type) {
    case "MemberExpression":
      return parent.computed || isAt(node, parent.object);
    case "Property":
      return isReferenceInProperty(node, parent);
    case "PropertyDefinition":
    case "MethodDefinition":
      return parent.computed || !isAt(node, parent.key);
    case "VariableDeclarator":
      return !isAt(node, parent.id);
    case "AssignmentPattern":
      return !isAt(node, parent.left);
    case "ArrowFunctionExpression":
      return isAt(node, parent.body);
    case "ClassDeclaration":
    case "ClassExpression":
      return parent.superClass !== null && isAt(node, parent.superClass);
    case "ExportSpecifier":
      return isAt(node, parent.local) && !isReExport(parent);
    default:
      return true;
  }
}

function isReferenceInProperty(node: Deno.lint.Identifier, parent: Deno.lint.Property): boolean {
  if (parent.parent.type === "ObjectPattern") return parent.computed && isAt(node, parent.key);
  return parent.computed || parent.shorthand || !isAt(node, parent.key);
}

function isReExport(node: Deno.lint.ExportSpecifier): boolean {
  return node.parent.type === "ExportNamedDeclaration" && node.parent.source !== null;
}

/** Nodes are made anew on each access, so they are compared by where they start. */
function isAt(node: Deno.lint.Node, other: Deno.lint.Node): boolean {
  return node.range[0] === other.range[0];
}

/**
 * The name `node` gives a property: `now` in `x.now`, `x["now"]` and `` x[`now`] ``.
 *
 * `undefined` when it is computed while the program runs.
 */
export function propertyName(
  node: Deno.lint.MemberExpression | Deno.lint.Property,
): string | undefined {
  const key = node.type === "Property" ? node.key : node.property;
  return !node.computed && key.type === "Identifier" ? key.name : literalText(key);
}

/** The text of a string, or of a template without holes. */
export function literalText(node: Deno.lint.Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.cooked;
}
