//! One operation of the document, put together step by step.

use serde_json::{Value, json};

use super::build::schema;

pub struct Operation(Value);

/// An operation that wants the token, and can fail as every one of them can.
pub fn operation(tag: &str, id: &str, summary: &str) -> Operation {
    let begun = json!({
        "tags": [tag], "operationId": id, "summary": summary, "parameters": [], "responses": {}
    });
    Operation(begun).fails([400, 401, 500, 503])
}

impl Operation {
    pub fn takes(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.0["parameters"] = parameters.into_iter().collect();
        self
    }

    pub fn body(mut self, name: &str) -> Self {
        let required = name != "RunRequest";
        self.0["requestBody"] =
            json!({"required": required, "content": {"application/json": {"schema": schema(name)}}});
        self.fails([413])
    }

    pub fn answers(mut self, status: &str, name: &str) -> Self {
        self.0["responses"][status] =
            json!({"description": "Done", "content": {"application/json": {"schema": schema(name)}}});
        self
    }

    pub fn answers_nothing(mut self) -> Self {
        self.0["responses"]["204"] = json!({"description": "Done"});
        self
    }

    pub fn fails<const N: usize>(mut self, statuses: [u16; N]) -> Self {
        for status in statuses {
            let reference = format!("#/components/responses/Error{status}");
            self.0["responses"][status.to_string()] = json!({"$ref": reference});
        }
        self
    }

    /// Answered to anybody.
    pub fn open(mut self) -> Self {
        self.0["security"] = json!([]);
        if let Some(responses) = self.0["responses"].as_object_mut() {
            responses.retain(|status, _| !["401", "503"].contains(&status.as_str()));
        }
        self
    }

    pub fn done(self) -> Value {
        self.0
    }
}
