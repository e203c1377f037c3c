//! What the provider says of itself and of a person, in the types of `openidconnect`.

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreGrantType, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
    CoreJwsSigningAlgorithm, CoreResponseMode, CoreResponseType, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreSubjectIdentifierType, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AdditionalProviderMetadata, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    IdTokenClaims, IdTokenFields, ProviderMetadata, StandardErrorResponse, StandardTokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The claims that no standard names, groups among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OtherClaims {
    #[serde(flatten)]
    pub members: Map<String, Value>,
}

impl AdditionalClaims for OtherClaims {}

/// What `openidconnect` does not read of a provider's description.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OtherMetadata {
    /// RFC 9207: its answers name the issuer.
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
}

impl AdditionalProviderMetadata for OtherMetadata {}

pub type Metadata = ProviderMetadata<
    OtherMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

type TokenFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

pub type Tokens = StandardTokenResponse<TokenFields, CoreTokenType>;

pub type Client = openidconnect::Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

pub type IdClaims = IdTokenClaims<OtherClaims, CoreGenderClaim>;
pub type UserInfo = UserInfoClaims<OtherClaims, CoreGenderClaim>;

/// The groups in a claim: a list of texts, or one text. None: there is no such claim.
pub fn groups(claims: &OtherClaims, name: &str) -> Option<Vec<String>> {
    match claims.members.get(name)? {
        Value::String(group) => Some(vec![group.clone()]),
        Value::Array(groups) => Some(groups.iter().filter_map(|group| group.as_str().map(str::to_owned)).collect()),
        _ => Some(vec![]),
    }
}
